/** What a pod asks of a node, and the most that it may use. Rules S-47, S-48, S-51, L-30. */
import type { Container, ContainerStatus, Pod, PodSpec } from "./kubernetes/pod.ts";
import { maxResources, parseResources, type Resources, sumResources } from "./resources.ts";

const POD_LEVEL = /^(cpu|memory|hugepages-.*)$/;

/** Effective requests of one pod, with `pods: 1`. */
export function podRequests(pod: Pod): Resources {
  const { spec } = pod;
  const ask = (container: Container, statuses: readonly ContainerStatus[] | undefined) => containerRequests(pod, container, statuses);
  let running = sumResources(...spec.containers.map((container) => ask(container, pod.status?.containerStatuses)));
  let sidecars: Resources = {};
  let starting: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const requests = ask(container, pod.status?.initContainerStatuses);
    if (container.restartPolicy === "Always") {
      sidecars = sumResources(sidecars, requests);
      starting = maxResources(starting, sidecars);
    } else {
      starting = maxResources(starting, sumResources(sidecars, requests));
    }
  }
  running = maxResources(sumResources(running, sidecars), starting);
  return sumResources({ ...running, ...podLevel(parseResources(spec.resources?.requests)) }, parseResources(spec.overhead), { pods: 1 });
}

/** Effective limits of one pod: like its requests, for what is limited. */
export function podLimits({ spec }: Pod): Resources {
  const limitsOf = (container: Container) => parseResources(container.resources?.limits);
  let sidecars: Resources = {};
  let starting: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const limits = limitsOf(container);
    if (container.restartPolicy === "Always") sidecars = sumResources(sidecars, limits);
    starting = maxResources(starting, container.restartPolicy === "Always" ? sidecars : sumResources(sidecars, limits));
  }
  const running = maxResources(sumResources(...spec.containers.map(limitsOf), sidecars), starting);
  const limits = { ...running, ...podLevel(parseResources(spec.resources?.limits)) };
  const overhead = Object.entries(parseResources(spec.overhead)).filter(([name]) => name in limits);
  return sumResources(limits, Object.fromEntries(overhead));
}

/** S-51: a template as admission would store it, each limit without a request being the request too. Also of the pod as a whole. */
export function withDefaultedRequests(spec: PodSpec): PodSpec {
  const complete = (container: Container): Container => {
    const limits = container.resources?.limits;
    if (limits === undefined) return container;
    return { ...container, resources: { ...container.resources, requests: { ...limits, ...container.resources?.requests } } };
  };
  const defaulted = {
    ...spec,
    containers: spec.containers.map(complete),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(complete) }),
  };
  return spec.resources?.limits === undefined ? defaulted : { ...defaulted, resources: defaultedPodResources(defaulted) };
}

/** A limit of the pod as a whole is its request too, where neither it nor any container asks for that resource. */
function defaultedPodResources(spec: PodSpec): PodSpec["resources"] {
  const { limits = {}, requests } = spec.resources ?? {};
  const asked = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) => Object.keys(resources?.requests ?? {})),
  );
  const defaults = Object.entries(limits).filter(([name]) => POD_LEVEL.test(name) && !asked.has(name));
  return { ...spec.resources, requests: { ...Object.fromEntries(defaults), ...requests } };
}

function podLevel(amounts: Resources): Resources {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => POD_LEVEL.test(name)));
}

function containerRequests(pod: Pod, container: Container, statuses: readonly ContainerStatus[] | undefined): Resources {
  const requested = parseResources(container.resources?.requests);
  const status = statuses?.find(({ name }) => name === container.name);
  if (status?.resources === undefined) return requested;
  const granted = maxResources(parseResources(status.resources.requests), parseResources(status.allocatedResources));
  const isInfeasible = pod.status?.conditions?.some(({ type, reason }) => type === "PodResizePending" && reason === "Infeasible") ?? false;
  return isInfeasible ? granted : maxResources(requested, granted);
}
