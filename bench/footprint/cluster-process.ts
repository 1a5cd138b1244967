/**
 * A process of its own: the sandbox's API server over HTTPS, filled with a cluster at rest. It tells its parent where it listens, makes a
 * burst of pending pods when asked to, and tells when each of them has a NodeClaim. Usage: cluster-process.ts NODES PODS
 */
import { type Kind, NodeClaims, Nodes, Pods } from "@joinery/api";
import { createKubeClient, createRandom, createRealClock, type KubeClient } from "@joinery/kube";
import { type ApiServer, createApiServer } from "@joinery/sandbox";
import { pendingPod } from "./cluster-objects.ts";
import { createWithStatus, fillCluster } from "./fill-cluster.ts";

/** To the parent. */
export type ClusterMessage =
  | {
      readonly kind: "filled";
      readonly kubeconfig: string;
      readonly url: string;
      readonly certificate: string;
      readonly token: string;
      /** Of a resting pod and of a node, as JSON. */
      readonly podBytes: number;
      readonly nodeBytes: number;
    }
  | { readonly kind: "writes"; readonly count: number }
  | {
      readonly kind: "burst";
      readonly nodeClaims: number;
      /** From the first pod's creation to the last NodeClaim, and to the last that is launched. */
      readonly claimedMs: number;
      readonly launchedMs: number;
    };

/** From the parent. */
export type ClusterRequest = { readonly kind: "burst"; readonly pods: number } | { readonly kind: "count-writes" };

const WORKLOADS = 300;
const BURST_MS_MAX = 240_000;

const [nodes = 0, pods = 0] = process.argv.slice(2).map(Number);
const server = createApiServer({ clock: createRealClock(), random: createRandom("footprint") });
const client = createKubeClient(server.transport("kube-controller-manager"), { userAgent: "kube-controller-manager" });
await fillCluster(client, { nodes, pods, deployments: WORKLOADS });
const sizes = { podBytes: await sizeOfFirst(client, Pods), nodeBytes: await sizeOfFirst(client, Nodes) };
const served = await server.serve({ port: 0 });
let writes = 0;
server.onChange((resource) => {
  if (resource !== "coordination.k8s.io/leases") writes++;
});
const { url, certificate, token } = served;
tell({ kind: "filled", kubeconfig: served.kubeconfig(), url, certificate, token, ...sizes });
process.on("message", (request: ClusterRequest) => {
  if (request.kind === "count-writes") tell({ kind: "writes", count: writes });
  else void burst(server, client, request.pods).then(tell);
});
// The parent is gone: so is the cluster.
process.on("disconnect", () => process.exit(0));

function tell(message: ClusterMessage): void {
  process.send?.(message);
}

async function sizeOfFirst(kube: KubeClient, kind: Kind): Promise<number> {
  const { items } = await kube.list(kind, { limit: 1 });
  return items[0] === undefined ? 0 : JSON.stringify(items[0]).length;
}

/** Ends when NodeClaims for all of the pods exist and are launched: their requests count the pods they are for. */
async function burst(api: ApiServer, kube: KubeClient, count: number): Promise<ClusterMessage> {
  const known = new Set<string>();
  for await (const { metadata } of kube.listAll(NodeClaims)) known.add(metadata?.name ?? "");
  const startedMs = performance.now();
  const podsOf = new Map<string, number>();
  const launched = new Set<string>();
  let claimedMs = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => reject(new Error(`after ${BURST_MS_MAX / 1000} s ${podsOf.size} NodeClaims exist`)), BURST_MS_MAX);
  const unsubscribe = api.onChange((resource, { object }) => {
    const { metadata, spec, status } = object as {
      readonly metadata?: { readonly name?: string };
      readonly spec?: { readonly resources?: { readonly requests?: { readonly pods?: string } } };
      readonly status?: { readonly providerID?: string };
    };
    const name = metadata?.name ?? "";
    if (resource !== "karpenter.sh/nodeclaims" || known.has(name)) return;
    if (!podsOf.has(name)) claimedMs = performance.now() - startedMs;
    podsOf.set(name, Number(spec?.resources?.requests?.pods ?? 0));
    if (status?.providerID) launched.add(name);
    const claimed = [...podsOf.values()].reduce((sum, pods) => sum + pods, 0);
    if (claimed >= count && launched.size === podsOf.size) resolve();
  });
  for (let index = 0; index < count; index++) await createWithStatus(kube, Pods, pendingPod(index));
  await promise.finally(() => {
    clearTimeout(late);
    unsubscribe();
  });
  return { kind: "burst", nodeClaims: podsOf.size, claimedMs, launchedMs: performance.now() - startedMs };
}
