/** EndpointSlices: the addresses behind each Service with a selector, a hundred to a slice. Nothing routes by them here; people read them. */
import type { ContainerPort, KubeObject, Pod } from "@joinery/api";
import { kind } from "@joinery/api";
import { keyOf, matchesLabelSelector, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { canonicalJson, contentHash } from "./fnv.ts";
import { isEnded, isReady } from "./pod-facts.ts";
import { controllerReference } from "./pod-template.ts";

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly type?: string;
  };
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef: Readonly<Record<string, string | undefined>>;
}

interface EndpointSlice extends KubeObject {
  readonly addressType: "IPv4";
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
}

export const Services = kind<Service>("", "v1", "Service", "services", true);
const EndpointSlices = kind<EndpointSlice>("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", true);

const ENDPOINTS_MAX = 100;
/** Pods that become ready one after the other are gathered for so long. */
const GATHER_MS = 1_000;

export function startEndpointSlices(context: ClusterContext): void {
  const { views } = context;
  const client = context.client("endpointslice-controller");

  async function reconcile(key: string): Promise<undefined> {
    const service = views.services.find(key);
    const { namespace = "", name = "" } = parseKey(key);
    const selector = service?.spec?.selector;
    const isServed = service !== undefined && selector !== undefined && !views.services.isLeaving(service);
    if (!isServed) {
      return; // its slices go with it, by their owner
    }
    const pods = views.pods
      .by("namespace", namespace)
      .filter(
        (pod) => matchesLabelSelector({ matchLabels: selector }, pod.metadata?.labels) && pod.status?.podIP !== undefined && !isEnded(pod),
      )
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const wished = slicesOf(service, pods, (nodeName) => views.nodes.find(nodeName)?.metadata?.labels?.["topology.kubernetes.io/zone"]);
    const { items } = await client.list(EndpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${name}` });
    const there = new Map(items.map((slice) => [slice.metadata?.name ?? "", slice]));
    for (const slice of wished) {
      const old = there.get(slice.metadata?.name ?? "");
      there.delete(slice.metadata?.name ?? "");
      if (old === undefined) {
        await client.create(EndpointSlices, slice);
      } else if (canonicalJson([old.endpoints ?? [], old.ports ?? []]) !== canonicalJson([slice.endpoints, slice.ports])) {
        await client.replace(EndpointSlices, { ...slice, metadata: { ...old.metadata } });
      }
    }
    for (const slice of there.values()) {
      await client.delete(EndpointSlices, parseKey(keyOf(slice)));
    }
  }

  const loop = startWorkLoop({ name: "endpointslice-controller", context, reconcile });
  views.services.onChange(({ object }) => loop.add(keyOf(object)));
  views.pods.onChange((change) => {
    const { namespace = "", labels } = change.object.metadata ?? {};
    for (const service of views.services.by("namespace", namespace)) {
      if (service.spec?.selector !== undefined && matchesLabelSelector({ matchLabels: service.spec.selector }, labels)) {
        loop.addAfter(keyOf(service), GATHER_MS);
      }
    }
  });
}

function slicesOf(service: Service, pods: readonly Pod[], zoneOf: (nodeName: string) => string | undefined): EndpointSlice[] {
  const { name = "", namespace } = service.metadata ?? {};
  const slices: EndpointSlice[] = [];
  for (let from = 0; from < Math.max(1, pods.length); from += ENDPOINTS_MAX) {
    const some = pods.slice(from, from + ENDPOINTS_MAX);
    slices.push({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        generateName: `${name}-`,
        name: `${name}-${contentHash({ uid: service.metadata?.uid, from }).slice(0, 5)}`,
        namespace,
        labels: {
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          "kubernetes.io/service-name": name,
          ...(service.spec?.clusterIP === "None" ? { "service.kubernetes.io/headless": "" } : {}),
        },
        ownerReferences: [controllerReference(service, "v1", "Service")],
      },
      addressType: "IPv4",
      endpoints: some.map((pod) => endpointOf(pod, zoneOf)),
      ports: portsOf(service, some[0]),
    });
  }
  return slices;
}

function endpointOf(pod: Pod, zoneOf: (nodeName: string) => string | undefined): Endpoint {
  const { nodeName } = pod.spec;
  const zone = nodeName === undefined ? undefined : zoneOf(nodeName);
  const isTerminating = pod.metadata?.deletionTimestamp !== undefined;
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready: isReady(pod) && !isTerminating, serving: isReady(pod), terminating: isTerminating },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    targetRef: { kind: "Pod", namespace: pod.metadata?.namespace, name: pod.metadata?.name, uid: pod.metadata?.uid },
  };
}

/** A named target port is looked up in a pod; without pods the ports are not known yet. */
function portsOf({ spec }: Service, pod: Pod | undefined): EndpointSlice["ports"] {
  const named = (pod?.spec.containers ?? []).flatMap(({ ports = [] }): readonly ContainerPort[] => ports);
  return (spec?.ports ?? []).flatMap(({ name = "", port, protocol = "TCP", targetPort = port }) => {
    const target = typeof targetPort === "number" ? targetPort : named.find((one) => one.name === targetPort)?.containerPort;
    return target === undefined ? [] : [{ name, port: target, protocol }];
  });
}
