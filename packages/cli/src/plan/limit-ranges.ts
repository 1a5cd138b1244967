/** What admission fills into a pod's resources: limits as requests, and the defaults of the namespace's LimitRanges. Rule S-51. */
import { type Container, type KubeObject, type PodSpec, type ResourceTexts, withDefaultedRequests } from "@joinery/api";

interface LimitRangeItem {
  readonly type: string;
  readonly default?: ResourceTexts;
  readonly defaultRequest?: ResourceTexts;
  readonly max?: ResourceTexts;
  readonly min?: ResourceTexts;
}

export interface LimitRange extends KubeObject {
  readonly spec?: { readonly limits?: readonly LimitRangeItem[] };
}

/** Resource name → what a container gets that says nothing. */
export interface ContainerDefaults {
  readonly limits: ResourceTexts;
  readonly requests: ResourceTexts;
}

/** Of one namespace. The first LimitRange by name wins per resource, so that a plan repeats exactly. */
export function containerDefaults(ranges: readonly LimitRange[]): ContainerDefaults | undefined {
  const items = [...ranges]
    .sort((a, b) => ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1))
    .flatMap(({ spec }) => spec?.limits ?? [])
    .filter(({ type }) => type === "Container");
  if (items.length === 0) return undefined;
  const limits: Record<string, string | number> = {};
  const requests: Record<string, string | number> = {};
  for (const item of items) {
    const itemLimits = { ...item.max, ...item.default };
    const itemRequests = { ...item.min, ...itemLimits, ...item.defaultRequest };
    for (const name in itemLimits) limits[name] ??= itemLimits[name]!;
    for (const name in itemRequests) requests[name] ??= itemRequests[name]!;
  }
  return { limits, requests };
}

/** The spec as the API server would store it. */
export function admittedSpec(spec: PodSpec, defaults: ContainerDefaults | undefined): PodSpec {
  const complete = withDefaultedRequests(spec);
  if (defaults === undefined) return complete;
  const fill = (container: Container): Container => ({
    ...container,
    resources: {
      ...container.resources,
      limits: { ...defaults.limits, ...container.resources?.limits },
      requests: { ...defaults.requests, ...container.resources?.requests },
    },
  });
  return {
    ...complete,
    containers: complete.containers.map(fill),
    ...(complete.initContainers && { initContainers: complete.initContainers.map(fill) }),
  };
}
