/** Edits as JSON merge patches (RFC 7386) that name their targets. Lists are replaced as a whole, as merge patches do. */
import { type Affinity, formatAmount, isEqualJson, type NodePool, type PodSpec, parseResources, podRequests } from "@joinery/api";
import {
  type Edit,
  editedAffinity,
  editedPodTerms,
  editedSpreads,
  type OthersEdit,
  type PodEdit,
  type PoolEdit,
} from "@joinery/scheduling";
import { merged, mergePatches } from "./merge-patch.ts";
import type { Owner } from "./owner.ts";

export type Patch = Readonly<Record<string, unknown>>;

/** The workload that the pods which an edit is about are made from; undefined where there are several, or none in the input. */
export type FindOther = (edit: OthersEdit) => Owner | undefined;

/** One patch per target, the pod's owner first; undefined where the owner's template cannot say it, e.g. when a request comes from a LimitRange. */
export function patchesOf(edits: readonly Edit[], owner: Owner, findOther: FindOther = () => undefined): readonly Patch[] | undefined {
  let spec = owner.spec;
  const podPatches: Patch[] = [];
  const poolPatches = new Map<string, Patch>();
  const otherPatches: Patch[] = [];
  for (const edit of edits) {
    if (edit.kind === "others-term") {
      const other = findOther(edit);
      const patch = other && podSpecPatch({ ...edit, kind: "pod-term", side: "podAntiAffinity" }, other.spec);
      if (patch === undefined) return undefined;
      otherPatches.push(ownerPatch(patch, other!));
      continue;
    }
    if (edit.kind === "raise-limit" || edit.kind === "pool-requirement") {
      const patch = poolPatch(edit);
      poolPatches.set(edit.nodePool, mergePatches(poolPatches.get(edit.nodePool) ?? {}, patch));
      continue;
    }
    // A buffer says nothing of its pods: what it refers to does.
    const patch = owner.kind === "CapacityBuffer" ? undefined : podSpecPatch(edit, spec);
    if (patch === undefined) return undefined;
    podPatches.push(patch);
    spec = withPatch(spec, patch);
  }
  const own = podPatches.length === 0 ? [] : [ownerPatch(podPatches.reduce(mergePatches), owner)];
  return [...own, ...otherPatches, ...poolPatches.values()];
}

/** Patches of templates leave what makes a template. */
function withPatch(spec: PodSpec, patch: Patch): PodSpec {
  return { ...spec, ...merged(spec, patch) };
}

/** Of a Job's template nothing can be changed once it is there, so the patch is for the file; so are many fields of a Pod. */
function ownerPatch(spec: Patch, { apiVersion, kind, name, namespace }: Owner): Patch {
  return { apiVersion, kind, metadata: { name, namespace }, spec: kind === "Pod" ? spec : { template: { spec } } };
}

function poolPatch(edit: PoolEdit): Patch {
  const spec: NodePoolPatch =
    edit.kind === "raise-limit"
      ? { limits: { [edit.resource]: formatAmount(edit.resource, edit.to) } }
      : { template: { spec: { requirements: edit.requirements } } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: edit.nodePool }, spec };
}

interface NodePoolPatch {
  readonly limits?: NodePool["spec"]["limits"];
  readonly template?: { readonly spec: { readonly requirements: Extract<PoolEdit, { kind: "pool-requirement" }>["requirements"] } };
}

function podSpecPatch(edit: PodEdit, spec: PodSpec): Patch | undefined {
  switch (edit.kind) {
    case "add-tolerations":
      return { tolerations: [...(spec.tolerations ?? []), ...edit.tolerations] };
    case "toleration": {
      const tolerations = spec.tolerations ?? [];
      if (!isEqualJson(tolerations[edit.index], edit.from)) return undefined;
      return { tolerations: tolerations.map((one, at) => (at === edit.index ? edit.to : one)) };
    }
    case "rename-resource": {
      const containers = renamedContainers(edit, spec);
      return containers && { containers };
    }
    case "node-selector":
      if (spec.nodeSelector?.[edit.key] === undefined) return undefined;
      return { nodeSelector: { ...(edit.to?.key !== edit.key && { [edit.key]: null }), ...(edit.to && { [edit.to.key]: edit.to.value }) } };
    case "node-affinity": {
      if (spec.affinity?.nodeAffinity === undefined) return undefined;
      return affinityPatch("nodeAffinity", spec.affinity, editedAffinity(spec.affinity, edit));
    }
    case "pod-term": {
      const term = spec.affinity?.[edit.side]?.requiredDuringSchedulingIgnoredDuringExecution?.[edit.index];
      if (term?.topologyKey !== edit.from.topologyKey) return undefined;
      return affinityPatch(edit.side, spec.affinity!, editedPodTerms(spec.affinity!, edit));
    }
    case "spread": {
      const spreads = spec.topologySpreadConstraints ?? [];
      // A default of the cluster stands in no template.
      if (spreads[edit.index]?.topologyKey !== edit.from.topologyKey) return undefined;
      return { topologySpreadConstraints: editedSpreads(spreads, edit) };
    }
    case "free-host-ports": {
      const containers = withoutHostPorts(edit, spec);
      return containers && { containers };
    }
    case "lower-request": {
      const containers = loweredContainers(edit, spec);
      return containers && { containers };
    }
  }
}

function affinityPatch(side: keyof Affinity, before: Affinity, after: Affinity): Patch {
  const gone = Object.keys(before[side] ?? {}).filter((name) => !(name in (after[side] ?? {})));
  return { affinity: { [side]: { ...after[side], ...Object.fromEntries(gone.map((name) => [name, null])) } } };
}

/** undefined where the pod is on the host's network, whose ports are the host's. */
function withoutHostPorts(
  { ports: freed }: Extract<PodEdit, { kind: "free-host-ports" }>,
  spec: PodSpec,
): PodSpec["containers"] | undefined {
  if (spec.hostNetwork) return undefined;
  const isFreed = (hostPort: number | undefined, protocol = "TCP", hostIP = "") =>
    freed.some((port) => port.port === hostPort && port.protocol === protocol && port.ip === (hostIP || "0.0.0.0"));
  return spec.containers.map((container) => {
    const { ports } = container;
    if (ports === undefined) return container;
    const kept = ports.map((port) => {
      if (!isFreed(port.hostPort, port.protocol, port.hostIP)) return port;
      const { hostPort: _port, hostIP: _address, ...rest } = port;
      return rest;
    });
    return { ...container, ports: kept };
  });
}

/** undefined where no container asks for it by that name. */
function renamedContainers({ from, to }: Extract<PodEdit, { kind: "rename-resource" }>, spec: PodSpec): PodSpec["containers"] | undefined {
  const renamed = <T>(amounts: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name === from ? to : name, amount]));
  const containers = spec.containers.map((container) => {
    const { requests, limits, ...rest } = container.resources ?? {};
    if (requests?.[from] === undefined && limits?.[from] === undefined) return container;
    return {
      ...container,
      resources: { ...rest, ...(requests && { requests: renamed(requests) }), ...(limits && { limits: renamed(limits) }) },
    };
  });
  return podRequests({ spec: { ...spec, containers } })[from] === undefined ? containers : undefined;
}

/** Resources of which a container may get more than it asks for. */
const SHARED_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage"]);

/** The container that asks for most gives way. */
function loweredContainers(
  { resource, from, to }: Extract<PodEdit, { kind: "lower-request" }>,
  spec: PodSpec,
): PodSpec["containers"] | undefined {
  const amounts = spec.containers.map(
    ({ resources }) => parseResources(resources?.requests)[resource] ?? parseResources(resources?.limits)[resource] ?? 0,
  );
  const largest = amounts.indexOf(Math.max(...amounts));
  const lowered = amounts[largest]! - (from - to);
  if (lowered <= 0) return undefined;
  const containers = spec.containers.map((container, index) => {
    if (index !== largest) return container;
    const amount = { [resource]: formatAmount(resource, lowered) };
    const { requests, limits, ...rest } = container.resources ?? {};
    // What cannot be shared is asked for and limited by one amount.
    const isShared = SHARED_RESOURCES.has(resource);
    const changed = {
      ...rest,
      requests: { ...requests, ...amount },
      ...(limits && { limits: isShared ? limits : { ...limits, ...amount } }),
    };
    return { ...container, resources: changed };
  });
  return podRequests({ spec: { ...spec, containers } })[resource] === to ? containers : undefined;
}
