/** What a machine is told at its first boot: a MIME document with the user's parts and ours last. Rules I-1303…I-1307, I-1406…I-1408, W-504. */
import {
  CAPACITY_TYPE_LABEL,
  DO_NOT_SYNC_TAINTS_LABEL,
  type Ec2NodeClass,
  type NodeClaim,
  type Taint,
  UNREGISTERED_TAINT,
  withSortedKeys,
} from "@joinery/api";
import type { ClusterFacts } from "../cluster-facts.ts";
import type { Family } from "../instance-types/family.ts";

export interface UserDataFacts {
  readonly nodeClass: Ec2NodeClass;
  readonly claim: NodeClaim;
  readonly cluster: ClusterFacts;
  readonly family: Family;
  readonly capacityType: string;
  readonly podsMax: number;
}

/** Families whose user data this room can make. */
export const FAMILIES_WITH_USER_DATA: readonly string[] = ["AL2023", "Custom"];

const BOUNDARY = "//";
const NODE_CONFIG = "application/node.eks.aws";
const SHELL = 'text/x-shellscript; charset="us-ascii"';
const KUBERNETES_DOMAIN = /^([^/]+\.)?(kubernetes\.io|k8s\.io)$/;

/** Base64. */
export function userData(facts: UserDataFacts): string {
  const own = facts.nodeClass.spec?.userData ?? "";
  const text = facts.family.name === "Custom" ? own : mime([...userParts(own), { type: NODE_CONFIG, body: nodeConfig(facts) }]);
  return Buffer.from(text, "utf8").toString("base64");
}

/** I-1306: in this order, each key and effect once. */
export function taintsOf({ spec }: NodeClaim): readonly Taint[] {
  const taints = [...(spec.taints ?? []), ...(spec.startupTaints ?? [])];
  const isThere = taints.some(({ key, effect }) => key === UNREGISTERED_TAINT.key && effect === UNREGISTERED_TAINT.effect);
  return isThere ? taints : [...taints, UNREGISTERED_TAINT];
}

/** I-1307: labels that a kubelet may give to itself, sorted by key. */
export function kubeletLabels({
  claim,
  capacityType,
  family,
}: Pick<UserDataFacts, "claim" | "capacityType" | "family">): Readonly<Record<string, string>> {
  const labels = {
    ...claim.metadata?.labels,
    [CAPACITY_TYPE_LABEL]: capacityType,
    ...(family.name === "Custom" ? {} : { [DO_NOT_SYNC_TAINTS_LABEL]: "true" }),
  };
  const allowed = Object.entries(labels).filter(
    ([key]) => !KUBERNETES_DOMAIN.test(key.includes("/") ? key.slice(0, key.indexOf("/")) : ""),
  );
  return Object.fromEntries(allowed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Part {
  readonly type: string;
  readonly body: string;
}

/** I-1408, written as JSON, which every YAML parser reads. */
function nodeConfig(facts: UserDataFacts): string {
  const { nodeClass, claim, cluster, podsMax } = facts;
  const labels = Object.entries(kubeletLabels(facts)).map(([key, value]) => `${key}=${value}`);
  const document = {
    apiVersion: "node.eks.aws/v1alpha1",
    kind: "NodeConfig",
    metadata: {},
    spec: {
      cluster: {
        apiServerEndpoint: cluster.endpoint,
        ...(cluster.caBundle === undefined ? {} : { certificateAuthority: cluster.caBundle }),
        cidr: cluster.serviceCidr,
        name: cluster.name,
      },
      containerd: {},
      instance: { localStorage: nodeClass.spec?.instanceStorePolicy === "RAID0" ? { strategy: "RAID0" } : {} },
      kubelet: {
        config: { ...nodeClass.spec?.kubelet, maxPods: nodeClass.spec?.kubelet?.maxPods ?? podsMax, registerWithTaints: taintsOf(claim) },
        ...(labels.length === 0 ? {} : { flags: [`--node-labels=${labels.join(",")}`] }),
      },
    },
  };
  return `# Karpenter Generated NodeConfig\n${JSON.stringify(withSortedKeys(document), null, 2)}\n`;
}

/** I-1407: the parts of a MIME document, one NodeConfig, or one script. */
function userParts(text: string): Part[] {
  if (text.trim() === "") return [];
  const boundary = /^content-type:\s*multipart\/[^;]+;.*boundary="?([^"\s;]+)/im.exec(text)?.[1];
  if (boundary === undefined)
    return [{ type: /^\s*(apiVersion|kind|spec)\s*:/m.test(text) || text.trimStart().startsWith("{") ? NODE_CONFIG : SHELL, body: text }];
  const segments = text.split(`--${boundary}`).slice(1);
  return segments
    .filter((segment) => segment.trim() !== "" && !segment.startsWith("--"))
    .map((segment) => {
      const [head = "", ...body] = segment.replace(/^\r?\n/, "").split(/\r?\n\r?\n/);
      return { type: /^content-type:\s*(.+)$/im.exec(head)?.[1]?.trim() ?? SHELL, body: body.join("\n\n") };
    });
}

function mime(parts: readonly Part[]): string {
  const head = `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"\n\n`;
  return `${head}${parts.map(({ type, body }) => `--${BOUNDARY}\nContent-Type: ${type}\n\n${body.trimEnd()}\n`).join("")}--${BOUNDARY}--\n`;
}
