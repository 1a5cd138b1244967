/**
 * What the cloud sells to the NodePools, asked for when somebody looks: what is sold no more is shown no more (O-175 keeps it for ever).
 * Rules O-225, O-226.
 */
import { CAPACITY_TYPE_LABEL, type NodePool, ZONE_LABEL } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { InstanceType, Offering } from "@joinery/scheduling";
import type { CloudProvider } from "../cloud-provider.ts";
import type { Logger } from "../logger.ts";
import { messageOf } from "../runtime/answers.ts";
import type { Caches } from "../state/caches.ts";
import { isManaged } from "../state/managed.ts";
import { type Registry, registerLiveGauge, type Sample } from "./prometheus.ts";

interface Source {
  readonly caches: Caches;
  readonly clock: Clock;
  /** Gate ReservedCapacity: a zone without a reservation is shown as one that is not available. */
  readonly isReservedCapacityOn: boolean;
}

/** Shows what this provider sells from now on; gives what ends that. */
export type ShowInstanceTypes = (provider: CloudProvider, log: Logger) => () => void;

const RESERVED = "reserved";
/** The four series of one look share what the provider answers. */
const SAME_LOOK_MS = 1000;

interface Shown {
  readonly isAvailable: boolean;
  readonly price: number;
}

interface Look {
  readonly atMs: number;
  readonly types: Promise<readonly (readonly InstanceType[])[]>;
}

/** A replica that does not lead shows none (O-77). */
export function createInstanceTypeMetrics(registry: Registry, { caches, clock, isReservedCapacityOn }: Source): ShowInstanceTypes {
  let ask: (() => Look["types"]) | undefined;
  let look: Look | undefined;

  function current(): Look["types"] {
    const atMs = clock.monotonicMs();
    if (ask === undefined) return Promise.resolve([]);
    if (look === undefined || atMs - look.atMs >= SAME_LOOK_MS) look = { atMs, types: ask() };
    return look.types;
  }

  const gauge = (name: string, help: string, samples: (pools: readonly (readonly InstanceType[])[]) => Iterable<Sample>) =>
    registerLiveGauge(registry, `karpenter_cloudprovider_instance_type_${name}`, help, async () => samples(await current()));
  const perType = (pools: readonly (readonly InstanceType[])[], measure: (type: InstanceType) => number): Sample[] =>
    [...new Map(pools.flat().map((type) => [type.name, type])).values()].map((type) => ({
      labels: { instance_type: type.name },
      value: measure(type),
    }));
  gauge("cpu_cores", "Cores of instance types.", (pools) => perType(pools, ({ capacity }) => (capacity.cpu ?? 0) / 1000));
  gauge("memory_bytes", "Memory of instance types.", (pools) => perType(pools, ({ capacity }) => capacity.memory ?? 0));
  gauge("offering_available", "Whether an instance type can be had.", (pools) =>
    perOffering(pools, isReservedCapacityOn, ({ isAvailable }) => (isAvailable ? 1 : 0)),
  );
  gauge("offering_price_estimate", "US dollars per hour of an instance type.", (pools) =>
    perOffering(pools, isReservedCapacityOn, ({ price }) => price),
  );

  return (provider, log) => {
    ask = () => typesOf(caches.nodePools.values(), provider, log);
    return () => {
      ask = undefined;
      look = undefined;
    };
  };
}

/** Of each pool. One that cannot be told hides no other. */
function typesOf(pools: Iterable<NodePool>, provider: CloudProvider, log: Logger): Look["types"] {
  const own = [...pools].filter(({ spec }) => isManaged(spec.template.spec.nodeClassRef, provider.nodeClassKinds));
  return Promise.all(
    own.map(async (pool) => {
      try {
        return await provider.instanceTypes(pool);
      } catch (error) {
        log.error({ NodePool: { name: pool.metadata?.name }, error: messageOf(error) }, "skipping, unable to resolve instance types");
        return [];
      }
    }),
  );
}

/** O-226: available for one pool is available; of several prices the last. */
function* perOffering(
  pools: readonly (readonly InstanceType[])[],
  isReservedShown: boolean,
  measure: (shown: Shown) => number,
): Iterable<Sample> {
  const types = new Map<string, Map<string, Shown>>();
  for (const { name, offerings } of pools.flat()) {
    const shown = types.get(name) ?? new Map<string, Shown>();
    types.set(name, shown);
    for (const offering of offerings) {
      const place = placeOf(offering);
      const isAvailable = offering.isAvailable || shown.get(place)?.isAvailable === true;
      shown.set(place, { isAvailable, price: offering.priceUsdPerHour });
    }
  }
  for (const [instance_type, shown] of types) {
    if (isReservedShown) addMissingReservations(shown);
    for (const [place, one] of shown) {
      const [capacity_type = "", zone = ""] = place.split("/");
      yield { labels: { instance_type, capacity_type, zone }, value: measure(one) };
    }
  }
}

function addMissingReservations(shown: Map<string, Shown>): void {
  for (const place of [...shown.keys()]) {
    const reserved = `${RESERVED}/${place.slice(place.indexOf("/") + 1)}`;
    if (!shown.has(reserved)) shown.set(reserved, { isAvailable: false, price: 0 });
  }
}

/** `capacity type/zone`. */
function placeOf({ requirements }: Offering): string {
  const valueIn = (label: string) => requirements.find(({ key }) => key === label)?.values?.[0] ?? "";
  return `${valueIn(CAPACITY_TYPE_LABEL)}/${valueIn(ZONE_LABEL)}`;
}
