/**
 * A cloud without machines: launching makes a Node object, terminating deletes it. The Node has the NodeClaim's name, so however
 * often a launch is repeated, by whichever process, there is one. What a crash forgets (a Node that waits for its registration
 * delay) is found again in the NodeClaims.
 */
import {
  KWOK_GROUP,
  KWOK_WELL_KNOWN_LABELS,
  type KwokNodeClass,
  KwokNodeClasses,
  NODE_POOL_LABEL,
  type Node,
  type NodeClaim,
  NodeClaims,
  Nodes,
  parseResources,
} from "@joinery/api";
import type { CloudProvider, Instance, LaunchOutcome, ListedInstance } from "@joinery/core";
import { type Clock, isNotFound, type KubeClient, type Random } from "@joinery/kube";
import type { InstanceType } from "@joinery/scheduling";
import { type Choice, findCheapest } from "./claim-fit.ts";
import { CLAIM_UID_ANNOTATION, PROVIDER_ID_PREFIX } from "./labels.ts";
import { nodeOf, providerIdOf } from "./node-of.ts";
import { registrationDelayMs } from "./registration-delay.ts";
import { createNode, WaitingNodes } from "./waiting-nodes.ts";

export interface KwokProviderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Of `parseCatalogue` or `builtInKwokCatalogue`. */
  readonly catalogue: readonly InstanceType[];
}

/** One for each process: Nodes that wait for their registration delay are remembered in it, and found again by a successor. */
export function createKwokProvider({ client, clock, random, catalogue }: KwokProviderOptions): CloudProvider {
  const typesByName = new Map(catalogue.map((type) => [type.name, type]));
  const known = wellKnownLabels(catalogue);
  const waiting = new WaitingNodes(client, clock);
  let recovery: Promise<void> | undefined;

  return {
    name: "kwok",
    nodeClassKinds: [KwokNodeClasses],
    wellKnownLabels: known,
    restrictedLabelDomains: [KWOK_GROUP],

    async instanceTypes() {
      return catalogue;
    },

    async launch(claim, signal): Promise<LaunchOutcome> {
      await recovered(signal);
      const name = claim.metadata?.name ?? "";
      const present = waiting.find(name) ?? (await client.find(Nodes, { name }, signal));
      if (present !== undefined) return adopt(present, claim, known);
      const nodeClass = await client.find(KwokNodeClasses, { name: claim.spec.nodeClassRef.name }, signal);
      if (nodeClass === undefined || nodeClass.metadata?.deletionTimestamp !== undefined) {
        return {
          kind: "insufficient-capacity",
          message: `KWOKNodeClass "${claim.spec.nodeClassRef.name}" does not exist or is being deleted`,
        };
      }
      if (isNotReady(nodeClass))
        return { kind: "node-class-not-ready", message: `KWOKNodeClass "${nodeClass.metadata?.name}" is not ready` };
      const choice = findCheapest(catalogue, {
        requirements: claim.spec.requirements,
        requests: parseResources(claim.spec.resources?.requests),
      });
      if (choice === undefined)
        return { kind: "insufficient-capacity", message: "all requested instance types were unavailable during launch" };
      const node = nodeFor(claim, choice);
      const delayMs = registrationDelayMs(nodeClass);
      if (delayMs > 0) waiting.add(node, delayMs);
      else await createNode(client, node, signal);
      return { kind: "launched", instance: instanceOf(node, known) };
    },

    async terminate(claim, signal) {
      const name = nameOf(claim.status?.providerID ?? providerIdOf(claim));
      waiting.remove(name);
      const node = await client.find(Nodes, { name }, signal);
      if (node === undefined || !isOwnedBy(node, claim)) return "gone";
      try {
        await client.delete(Nodes, { name }, { uid: node.metadata?.uid }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      // The Node may still wait for the finalizer that core takes off once the machine is gone, and this machine is.
      return "gone";
    },

    async find(providerId, signal) {
      await recovered(signal);
      if (!providerId.startsWith(PROVIDER_ID_PREFIX)) return undefined;
      const name = nameOf(providerId);
      const node = waiting.find(name) ?? (await client.find(Nodes, { name }, signal));
      return node === undefined ? undefined : instanceOf(node, known);
    },

    async list(signal) {
      await recovered(signal);
      const instances = new Map(waiting.all().map((node) => [node.metadata?.name, listedInstance(node, known)]));
      for await (const node of client.listAll(Nodes, { encoding: "outline" }, signal)) {
        if (node.spec?.providerID?.startsWith(PROVIDER_ID_PREFIX)) instances.set(node.metadata?.name, listedInstance(node, known));
      }
      return [...instances.values()];
    },
  };

  function nodeFor(claim: NodeClaim, choice: Choice): Node {
    return nodeOf({ claim, choice, now: new Date(clock.wallMs()).toISOString(), bootId: `kwok-${random.below(2 ** 31).toString(16)}` });
  }

  /** Once per process, before the first answer: Nodes that an earlier process owes to launched NodeClaims. */
  function recovered(signal: AbortSignal | undefined): Promise<void> {
    recovery ??= recover(signal).catch((error: unknown) => {
      recovery = undefined;
      throw error;
    });
    return recovery;
  }

  async function recover(signal: AbortSignal | undefined): Promise<void> {
    for await (const claim of client.listAll(NodeClaims, {}, signal)) {
      if (!isWaitingForNode(claim)) continue;
      const name = claim.metadata?.name ?? "";
      const choice = choiceOf(claim);
      if (choice === undefined || (await client.find(Nodes, { name }, signal)) !== undefined) continue;
      const nodeClass = await client.find(KwokNodeClasses, { name: claim.spec.nodeClassRef.name }, signal);
      const launchedAt = claim.status?.conditions?.find(({ type }) => type === "Launched")?.lastTransitionTime;
      const passedMs = launchedAt === undefined ? 0 : clock.wallMs() - Date.parse(launchedAt);
      waiting.add(nodeFor(claim, choice), Math.max(0, (nodeClass === undefined ? 0 : registrationDelayMs(nodeClass)) - passedMs));
    }
  }

  /** What was chosen for a NodeClaim, from the labels that the launch gave it. */
  function choiceOf({ metadata }: NodeClaim): Choice | undefined {
    const labels = metadata?.labels ?? {};
    const type = typesByName.get(labels["node.kubernetes.io/instance-type"] ?? "");
    const offering = type?.offerings.find(({ requirements }) =>
      requirements.every(({ key, operator, values }) => operator !== "In" || values?.includes(labels[key] ?? "")),
    );
    return type === undefined || offering === undefined ? undefined : { type, offering };
  }
}

function adopt(node: Node, claim: NodeClaim, known: ReadonlySet<string>): LaunchOutcome {
  if (isOwnedBy(node, claim)) return { kind: "launched", instance: instanceOf(node, known) };
  return { kind: "failed", reason: "NodeNameTaken", message: `Node "${node.metadata?.name}" belongs to an earlier NodeClaim of that name` };
}

/** Names of NodeClaims come again; UIDs do not. */
function isOwnedBy(node: Node, claim: NodeClaim): boolean {
  const owner = node.metadata?.annotations?.[CLAIM_UID_ANNOTATION];
  return owner === undefined || owner === (claim.metadata?.uid ?? "");
}

function instanceOf(node: Node, known: ReadonlySet<string>): Instance {
  const { capacity, allocatable } = node.status ?? {};
  return { ...listedInstance(node, known), capacity: parseResources(capacity), allocatable: parseResources(allocatable) };
}

function listedInstance({ metadata, spec }: Node, known: ReadonlySet<string>): ListedInstance {
  // The hostname and the marks of kwok belong to the Node alone; core would copy them to the NodeClaim (L-83).
  const labels = Object.fromEntries(Object.entries(metadata?.labels ?? {}).filter(([key]) => known.has(key)));
  return {
    providerId: spec?.providerID ?? "",
    labels,
    annotations: {},
    nodeClaimName: metadata?.name,
    nodePoolName: metadata?.labels?.[NODE_POOL_LABEL],
    ...(metadata?.creationTimestamp === undefined ? {} : { createdAtMs: Date.parse(metadata.creationTimestamp) }),
    ...(metadata?.deletionTimestamp === undefined ? {} : { isTerminating: true }),
  };
}

function isWaitingForNode({ metadata, status }: NodeClaim): boolean {
  if (metadata?.deletionTimestamp !== undefined || !status?.providerID?.startsWith(PROVIDER_ID_PREFIX)) return false;
  return !status.conditions?.some(({ type, status }) => type === "Registered" && status === "True");
}

function isNotReady({ status }: KwokNodeClass): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "False") ?? false;
}

function nameOf(providerId: string): string {
  return providerId.slice(PROVIDER_ID_PREFIX.length);
}

function wellKnownLabels(catalogue: readonly InstanceType[]): ReadonlySet<string> {
  const known = new Set(KWOK_WELL_KNOWN_LABELS);
  for (const type of catalogue) {
    for (const { key } of [...type.requirements, ...type.offerings.flatMap(({ requirements }) => requirements)]) known.add(key);
  }
  return known;
}
