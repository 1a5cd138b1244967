/**
 * What caches read of pods and nodes in protobuf is what the same server says in JSON. `RECORD_ENCODINGS=FILE` keeps both, for the tests of packages/kube
 * that need no server (`packages/kube/src/wire/protobuf/real-answers.json`).
 */
import { writeFileSync } from "node:fs";
import { type Kind, type KubeObject, type Node, Nodes, type Pod, Pods } from "@joinery/api";
import { type KubeClient, keyOf, loadTransport, type Transport } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock, connect } from "./cluster.ts";

const namespace = "default";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const selector = { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "In" as const, values: ["a", "b"] }] };
const term = {
  topologyKey: "kubernetes.io/hostname",
  labelSelector: selector,
  namespaces: ["default"],
  namespaceSelector: { matchLabels: { team: "a" } },
  matchLabelKeys: ["rev"],
};
const amounts = { cpu: "250m", memory: "64Mi" };

/** Every field of our types that a client may write. */
const everyField: Pod = {
  metadata: {
    name: "encodings",
    namespace,
    labels: { app: "web", rev: "1", "example.com/size": "x" },
    annotations: { "example.com/text": "größer als 7 bit ✓", "karpenter.sh/do-not-disrupt": "true" },
    finalizers: ["example.com/hold"],
    ownerReferences: [{ apiVersion: "example.com/v1", kind: "Owner", name: "o", uid: "1", controller: false, blockOwnerDeletion: false }],
  },
  spec: {
    schedulerName: "nobody",
    nodeSelector: { "kubernetes.io/os": "linux" },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] }],
              matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n"] }],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 7, preference: { matchExpressions: [{ key: "zone", operator: "Exists" }] } },
        ],
      },
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, matchLabelKeys: undefined, mismatchLabelKeys: ["rev"] }] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
    },
    tolerations: [
      { key: "team", operator: "Equal", value: "a", effect: "NoSchedule" },
      { key: "gone", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: selector,
        minDomains: 2,
        nodeAffinityPolicy: "Ignore",
        nodeTaintsPolicy: "Honor",
        matchLabelKeys: ["rev"],
      },
    ],
    containers: [
      {
        name: "main",
        image: "example.com/main",
        resources: { requests: amounts, limits: { cpu: "1", memory: "1Gi" }, claims: [{ name: "device" }] },
        ports: [{ name: "http", containerPort: 8080, hostPort: 8080, hostIP: "127.0.0.1", protocol: "TCP" }],
      },
    ],
    initContainers: [{ name: "side", image: "example.com/side", restartPolicy: "Always", resources: { requests: { cpu: "100m" } } }],
    resources: { requests: { cpu: "2" }, limits: { cpu: "3" } },
    terminationGracePeriodSeconds: 0,
    restartPolicy: "Always",
    volumes: [
      { name: "claimed", persistentVolumeClaim: { claimName: "c" } },
      {
        name: "scratch",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { storageClassName: "", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } as never,
          },
        },
      },
      { name: "empty", emptyDir: {} },
    ],
    schedulingGates: [{ name: "example.com/gate" }],
    resourceClaims: [{ name: "device", resourceClaimTemplateName: "t" }],
  },
};
const status = {
  phase: "Pending",
  conditions: [
    { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "m", lastTransitionTime: "2026-11-01T08:00:00Z" },
    { type: "Ready", status: "False", lastTransitionTime: "2026-11-01T08:00:01Z" },
  ],
  nominatedNodeName: "n",
  startTime: "2026-11-01T08:00:02Z",
  reason: "R",
  message: "text",
  containerStatuses: [
    {
      name: "main",
      ready: false,
      restartCount: 0,
      image: "",
      imageID: "",
      resources: { requests: amounts },
      allocatedResources: amounts,
      state: { waiting: { reason: "W" } },
    },
  ],
  initContainerStatuses: [{ name: "side", ready: false, restartCount: 0, image: "", imageID: "", state: { waiting: { reason: "W" } } }],
};
const node: Node = {
  metadata: { name: "encodings", labels: { "kubernetes.io/os": "linux" }, annotations: { "kwok.x-k8s.io/node": "fake" } },
  spec: {
    providerID: "example://1",
    unschedulable: true,
    taints: [
      { key: "team", value: "a", effect: "NoSchedule" },
      { key: "gone", effect: "NoExecute", timeAdded: "2026-11-01T08:00:00Z" },
    ],
  },
  status: {
    capacity: { cpu: "4", memory: "16Gi", pods: "110", "example.com/gpu": "2" },
    allocatable: { cpu: "3920m", memory: "15Gi", pods: "110" },
    conditions: [{ type: "Ready", status: "True", reason: "R", message: "m", lastTransitionTime: "2026-11-01T08:00:00Z" }],
  },
};

/** Fields that are not read in this encoding, and those that Kubernetes wants but our types do not know. */
const UNREAD = new Set(["image", "ready", "restartCount", "imageID", "state", "accessModes", "storage", "resourceClaimTemplateName"]);

let transport: Transport;
let client: KubeClient;

beforeAll(async () => {
  client = await connect();
  transport = (await loadTransport({ clock, env: process.env })).transport;
  await client.create(Nodes, node);
  const pod = await client.create(Pods, everyField);
  await client.replace(Pods, { ...pod, status } as unknown as Pod, { subresource: "status" });
});

afterAll(async () => {
  await client.patch(Pods, { namespace, name: "encodings" }, { type: "merge", body: { metadata: { finalizers: null } } });
  await client.delete(Pods, { namespace, name: "encodings" }, { gracePeriodSeconds: 0 });
  await client.delete(Nodes, { name: "encodings" });
  await transport.close();
});

/** Paths of `wish` whose value `found` has not. */
function missing(wish: unknown, found: unknown, path = ""): string[] {
  if (wish === undefined || UNREAD.has(path.split(".").at(-1)!)) return [];
  if (typeof wish !== "object" || wish === null) return wish === found ? [] : [`${path}: ${JSON.stringify(found)}, wanted ${wish}`];
  return Object.entries(wish).flatMap(([key, part]) =>
    missing(part, (found as Record<string, unknown> | undefined)?.[key], `${path}.${key}`),
  );
}

/** Volumes that are no claims are left out: nobody looks at them, and the service account's has another name in each pod. */
function withClaimsAlone(wish: KubeObject): KubeObject {
  const pod = wish as Pod;
  const volumes = pod.spec.volumes?.filter(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral);
  return { ...pod, spec: { ...pod.spec, volumes } } as KubeObject;
}

/** Of one and the same state: kwok may write between two lists. */
async function bothWays<T extends KubeObject>(kind: Kind<T>): Promise<{ whole: Map<string, T>; trimmed: Map<string, T> }> {
  const listed = async (encoding: "whole" | "trimmed") => {
    const objects = new Map<string, T>();
    for await (const object of client.listAll(kind, { encoding, limit: 3 })) objects.set(keyOf(object), object);
    return objects;
  };
  const versions = (objects: Map<string, T>) => [...objects].map(([key, { metadata }]) => `${key} ${metadata?.resourceVersion}`).join();
  for (;;) {
    const [whole, trimmed] = [await listed("whole"), await listed("trimmed")];
    if (versions(whole) === versions(trimmed)) return { whole, trimmed };
  }
}

test.each([
  { kind: Pods as Kind, wish: { ...everyField, status } as KubeObject, key: "default/encodings", read: withClaimsAlone },
  { kind: Nodes as Kind, wish: node as KubeObject, key: "encodings", read: (wish: KubeObject) => wish },
])("$kind.kind: every field that was written is read, and nothing that JSON has otherwise", async ({ kind, wish, key, read }) => {
  const { whole, trimmed } = await bothWays(kind);
  expect(trimmed.size).toBe(whole.size);
  expect(missing(wish, whole.get(key))).toEqual([]);
  expect(missing(read(wish), trimmed.get(key))).toEqual([]);
  for (const [name, object] of trimmed) expect(missing(object, whole.get(name))).toEqual([]);
});

test("a watch tells the same in both encodings", async () => {
  const stop = new AbortController();
  const scope = { fieldSelector: "metadata.name=encodings", resourceVersion: "0", timeoutSeconds: 5 };
  const first = async (encoding: "whole" | "trimmed") => {
    for await (const event of client.watch(Nodes, { ...scope, encoding }, stop.signal)) return event;
    return undefined;
  };
  const [whole, trimmed] = [await first("whole"), await first("trimmed")];
  if (whole?.type !== "ADDED" || trimmed?.type !== "ADDED") throw new Error(`wanted ADDED, found ${whole?.type} and ${trimmed?.type}`);
  expect(missing(node, trimmed.object)).toEqual([]);
  expect(missing(trimmed.object, whole.object)).toEqual([]);
  stop.abort();
});

test("refusals are read too; what has no such encoding comes in JSON", async () => {
  const answers = {
    pods: await both("/api/v1/namespaces/default/pods", { fieldSelector: "metadata.name=encodings", limit: "1" }),
    nodes: await both("/api/v1/nodes", { fieldSelector: "metadata.name=encodings" }),
    refusal: await both("/api/v1/nodes", { continue: "nonsense" }),
  };
  expect(answers.refusal.protobuf).not.toBe("");
  await expect(client.list(Nodes, { continue: "nonsense", encoding: "trimmed" })).rejects.toMatchObject({
    status: 400,
    reason: "BadRequest",
  });
  if (process.env.RECORD_ENCODINGS) writeFileSync(process.env.RECORD_ENCODINGS, `${JSON.stringify(answers, undefined, 1)}\n`);
});

/** The answer to one request as JSON, and the bytes of the other encoding. */
async function both(path: string, query: Record<string, string>): Promise<{ json: unknown; protobuf: string }> {
  const json = await transport.send({ method: "GET", path, query });
  const protobuf = await transport.send({ method: "GET", path, query, accept: `${PROTOBUF},application/json` });
  if (!(protobuf.body instanceof Uint8Array)) throw new Error(`${path} did not come in protobuf`);
  return { json: json.body, protobuf: Buffer.from(protobuf.body).toString("base64") };
}
