/**
 * The slow solver: the chapter's words one after the other, pod by pod, claim by claim, type by type, with nothing grouped and
 * nothing remembered. The fast one must give the same plan.
 */
import {
  CORE_WELL_KNOWN_LABELS,
  fits,
  parseResources,
  type Resources,
  subtractResources,
  sumResources,
  type Toleration,
} from "@joinery/api";
import { allocatableGroups, isLaunchable } from "../catalog/allocatable.ts";
import type { InstanceType, Offering } from "../instance-type.ts";
import { unsupportedFeatures } from "../pods/pod-constraints.ts";
import { type PodVariant, podRequirements, podVariants } from "../pods/pod-variants.ts";
import type { ExistingNode, HostPort, PodShape, PodToPlace, Problem } from "../problem.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";
import { haveConflict } from "../solve/host-ports.ts";
import { templateRequirements } from "../solve/template.ts";
import { untoleratedTaints } from "../taints.ts";
import { ModelTopology } from "./model-topology.ts";

const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";

/** S-166…S-169, V-62. */
class ModelReservations {
  readonly #mode: string;
  readonly #slots = new Map<string, number>();
  readonly #free = new Map<string, number>();

  constructor({ pools, options }: Problem) {
    this.#mode = options.reservedCapacity ?? "strict";
    for (const offering of pools.flatMap(({ instanceTypes }) => instanceTypes.flatMap(({ offerings }) => offerings))) {
      const id = reservationOf(offering);
      if (id === undefined || !offering.isAvailable) continue;
      this.#slots.set(id, Math.min(this.#slots.get(id) ?? 99, offering.reservationCapacity ?? 0));
    }
    for (const [id, slots] of this.#slots) this.#free.set(id, slots);
  }

  /** What the claim holds from now on; undefined: refused. */
  claim(
    held: ReadonlySet<string>,
    types: readonly InstanceType[],
    offeringsOf: (type: InstanceType) => readonly Offering[],
  ): ReadonlySet<string> | "deferred" | undefined {
    const ids = types.flatMap(offeringsOf).map(reservationOf);
    const reserved = ids.filter((id) => id !== undefined);
    const isFull = reserved.some((id) => this.#slots.get(id) === 0);
    const hasSlots = reserved.some((id) => this.#slots.get(id)! > 0);
    const next = new Set(reserved.filter((id) => held.has(id) || this.#free.get(id)! > 0));
    if (this.#mode === "strict" && hasSlots && next.size === 0) return "deferred";
    if (isFull && !hasSlots && reserved.length === ids.length) return this.#mode === "strict" ? "deferred" : undefined;
    if (this.#mode === "strict" && held.size > 0 && next.size === 0) return "deferred";
    for (const id of next) if (!held.has(id)) this.#free.set(id, this.#free.get(id)! - 1);
    for (const id of held) if (!next.has(id)) this.#free.set(id, this.#free.get(id)! + 1);
    return next;
  }
}

/** S-172. */
function pinned(requirements: Requirements, ids: ReadonlySet<string>): Requirements {
  return requirements.replace(Requirement.in("karpenter.sh/capacity-type", "reserved")).replace(Requirement.in(RESERVATION_ID, ...ids));
}

function reservationOf({ requirements }: Offering): string | undefined {
  return requirements.find(({ key }) => key === RESERVATION_ID)?.values?.[0];
}

export interface ModelPlan {
  readonly newNodes: readonly {
    readonly pool: string;
    readonly pods: readonly string[];
    readonly reservations: readonly string[];
    readonly types: readonly string[];
    readonly requirements: string;
  }[];
  readonly existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[];
  readonly unschedulable: readonly string[];
}

interface ModelClaim {
  readonly pool: ModelPool;
  readonly hostname: string;
  /** IDs of reservations. */
  held: ReadonlySet<string>;
  hostPorts: readonly HostPort[];
  attached: readonly string[];
  requirements: Requirements;
  types: readonly InstanceType[];
  requests: Resources;
  /** Labels along which its pods are counted. */
  keys: ReadonlySet<string>;
  readonly pods: string[];
}

interface ModelPool {
  readonly name: string;
  readonly taints: Problem["pools"][number]["nodePool"]["spec"]["template"]["spec"]["taints"];
  readonly requirements: Requirements;
  readonly types: readonly InstanceType[];
  readonly remaining: Record<string, number>;
}

/** Before its time; with pins where the node meets these too, and on no claim that is open. */
interface ModelTurn {
  readonly key: string;
  readonly pins?: Requirements;
}

interface ModelRun extends ModelPlan {
  /** Left out, though labels, room and limits would have done before anybody was placed. */
  readonly isLate: (key: string) => boolean;
  readonly companyOf: (late: string) => readonly ModelTurn[];
  readonly domainsOf: (late: string) => readonly ModelTurn[];
}

/** In the order of the queue, and then, as long as that helps and harms nobody, with those first who were left out. */
export function modelSolve(problem: Problem): ModelPlan {
  let ahead: readonly ModelTurn[] = [];
  let best = modelRun(problem, ahead);
  if (problem.options.reservedCapacity === "fallback") return best;
  const queue = problem.pods.toSorted(byQueueOrder).map(({ key }) => key);
  const shapeOf = (key: string) => problem.pods.find((pod) => pod.key === key)!.shape;
  const isMore = ({ unschedulable }: ModelPlan) =>
    unschedulable.length < best.unschedulable.length && unschedulable.every((key) => best.unschedulable.includes(key));
  const isFirstOfShape = (key: string, at: number, keys: readonly string[]) =>
    keys.findIndex((other) => shapeOf(other) === shapeOf(key)) === at;
  for (
    let chances = Math.min(16, Math.floor(4000 / (queue.length + problem.nodes.length)));
    chances > 0 && best.unschedulable.length > 0;
  ) {
    const late = queue.filter(best.isLate);
    if (late.length === 0) break;
    const all = late.map((key) => ({ key }));
    const afterAll = modelRun(problem, [...all, ...ahead]);
    chances--;
    const gaining = late.filter((key) => late.length > 1 && !afterAll.unschedulable.includes(key)).filter(isFirstOfShape);
    const forEach = late
      .filter(isFirstOfShape)
      .map((key) => [...best.companyOf(key).map((turn) => [turn, { key }]), ...best.domainsOf(key).map((turn) => [turn])]);
    const most = Math.max(...forEach.map(({ length }) => length));
    const inTurn = Array.from({ length: most }, (_, at) => forEach.flatMap((turns) => (at < turns.length ? [turns[at]!] : []))).flat();
    const found = isMore(afterAll)
      ? all
      : [...gaining.map((key) => [{ key }]), ...inTurn].find((turns) => chances-- > 0 && isMore(modelRun(problem, [...turns, ...ahead])));
    if (found === undefined) break;
    ahead = [...found, ...ahead];
    best = modelRun(problem, ahead);
  }
  return best;
}

function modelRun(problem: Problem, ahead: readonly ModelTurn[]): ModelRun {
  const { minValuesPolicy, preferencePolicy } = problem.options;
  const wellKnown = new Set([...CORE_WELL_KNOWN_LABELS, ...(problem.options.wellKnownLabels ?? [])]);
  const topology = new ModelTopology(problem);
  const daemonsOn = (pool: ModelPool, type: InstanceType): readonly PodShape[] => {
    const counting = problem.daemonSets.filter(({ shape }) => {
      const extra: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };
      if (untoleratedTaints(pool.taints ?? [], [...shape.tolerations, extra]).length > 0) return false;
      return podRequirements(shape).some((wanted) => pool.requirements.isCompatible(wanted, wellKnown) && typeOf(type).intersects(wanted));
    });
    return counting.map(({ shape }) => shape);
  };
  const overheadOn = (pool: ModelPool, type: InstanceType): Resources =>
    sumResources(...daemonsOn(pool, type).map(({ requests }) => requests));
  const isKept = (pool: ModelPool, type: InstanceType, requirements: Requirements, total: Resources): boolean => {
    if (!typeOf(type).intersects(requirements)) return false;
    const needed = sumResources(total, overheadOn(pool, type));
    return allocatableGroups(type).some(
      ({ allocatable, offerings }) =>
        fits(needed, allocatable) &&
        offerings.some((offering) => requirements.isCompatible(Requirements.fromItems(offering.requirements), wellKnown)),
    );
  };
  const mayPreferNot = problem.pools.some(({ nodePool }) =>
    nodePool.spec.template.spec.taints?.some(({ effect }) => effect === "PreferNoSchedule"),
  );
  const pools = modelPools(problem).filter((pool) => {
    const types = pool.types.filter((type) => isUsableType(pool, type, wellKnown));
    return types.length > 0 && (minValuesPolicy === "BestEffort" || shortfalls(pool.requirements, types).length === 0);
  });
  const claims: ModelClaim[] = [];
  const nodes = problem.nodes
    .toSorted((a, b) => Number(b.isInitialized) - Number(a.isInitialized) || (a.name < b.name ? -1 : 1))
    .map((node) => ({
      node,
      left: leftOn(node, problem),
      pods: [] as string[],
      hostPorts: portsOn(node, problem),
      attached: attachedTo(node, problem),
    }));

  const reservations = new ModelReservations(problem);
  let isDeferred = false;
  const roomyOfferings = (pool: ModelPool, type: InstanceType, requirements: Requirements, total: Resources) => {
    const needed = sumResources(total, overheadOn(pool, type));
    const groups = allocatableGroups(type).filter(({ allocatable }) => fits(needed, allocatable));
    return groups
      .flatMap(({ offerings }) => offerings)
      .filter((offering) => requirements.isCompatible(Requirements.fromItems(offering.requirements), wellKnown));
  };

  /** Types that can be launched, without reservations that are not held where that is possible; all, where minValues would suffer. */
  const listedTypes = (
    pool: ModelPool,
    types: readonly InstanceType[],
    requirements: Requirements,
    total: Resources,
    held: ReadonlySet<string>,
  ): readonly InstanceType[] => {
    const through = (isMeant: (offering: Offering) => boolean) =>
      types.filter((type) =>
        roomyOfferings(pool, type, requirements, total).some((offering) => isLaunchable(offering) && isMeant(offering)),
      );
    const ownOnly = through((offering) => held.size > 0 || reservationOf(offering) === undefined);
    const launchable = ownOnly.length > 0 ? ownOnly : through(() => true);
    return launchable.length > 0 && shortfalls(requirements, launchable).length === 0 ? launchable : types;
  };

  const joins = (claim: ModelClaim, pod: PodToPlace, variant: PodVariant, isNew: boolean): boolean => {
    const { requirements: wanted, tolerations } = variant;
    const { hostPorts = [] } = pod.shape;
    if (untoleratedTaints(claim.pool.taints ?? [], tolerations).length > 0) return false;
    if (!claim.requirements.isCompatible(wanted, wellKnown)) return false;
    if (haveConflict(hostPorts, claim.hostPorts)) return false;
    const attached = [...new Set([...claim.attached, ...claimKeys(pod.shape)])];
    const requests = sumResources(claim.requests, pod.shape.requests);
    const places = volumePlaces(pod.shape, problem) ?? [Requirements.empty];
    isDeferred = false;
    return places.some((place) => {
      const before = claim.requirements.and(wanted);
      if (!before.isCompatible(place, wellKnown)) return false;
      const own = before.and(place);
      const typesUnder = (labels: Requirements) =>
        claim.types.filter(
          (type) =>
            isKept(claim.pool, type, labels, requests) &&
            !daemonsOn(claim.pool, type).some((daemon) => haveConflict(daemon.hostPorts ?? [], hostPorts)) &&
            (claimKeys(pod.shape).length === 0 || canAttach(attached, type.volumeLimits ?? {}, problem)),
        );
      // An open claim is looked at for its labels alone.
      const isToBeHad = (labels: Requirements, isAlone: boolean) => {
        if (!own.isCompatible(labels, wellKnown)) return false;
        const left = isNew ? typesUnder(labels) : claim.pool.types.filter((type) => isKept(claim.pool, type, labels, {}));
        const isEnough = !isNew || !isAlone || minValuesPolicy !== "Strict" || shortfalls(own.and(labels), left).length === 0;
        return left.length > 0 && isEnough;
      };
      const chosen = topology.narrow(pod.shape, variant, claim.hostname, own, isToBeHad);
      if (chosen === undefined || !own.isCompatible(chosen, wellKnown)) return false;
      let requirements = own.and(chosen);
      const types = typesUnder(requirements);
      if (types.length === 0) return false;
      const missing = shortfalls(requirements, types);
      if (missing.length > 0 && (!isNew || minValuesPolicy === "Strict")) return false;
      for (const { key, found } of missing) requirements = requirements.replace(requirements.find(key)!.withMinValues(found || undefined));
      const ids = reservations.claim(claim.held, types, (type) => roomyOfferings(claim.pool, type, requirements, requests));
      if (ids === undefined || ids === "deferred") {
        isDeferred = ids === "deferred";
        return false;
      }
      claim.held = ids;
      claim.keys = new Set([...claim.keys, ...topology.keysAbout(pod.shape)]);
      requirements = decidedAlong(
        claim.keys,
        requirements,
        claim.pool,
        (labels) => own.isCompatible(labels, wellKnown) && typesUnder(labels).length > 0,
      );
      Object.assign(claim, { requirements, requests, types, attached, hostPorts: [...claim.hostPorts, ...hostPorts] });
      claim.pods.push(pod.key);
      topology.placements.push({
        shape: pod.shape,
        hostname: claim.hostname,
        requirements,
        now: () => claim.requirements,
        taints: claim.pool.taints ?? [],
      });
      return true;
    });
  };
  const tryOnce = (pod: PodToPlace, variant: PodVariant, isApart: boolean): boolean => {
    const { hostPorts = [] } = pod.shape;
    for (const place of nodes) {
      const { node } = place;
      const labels = Requirements.fromLabels(node.labels);
      const isFine =
        untoleratedTaints(node.taints, variant.tolerations).length === 0 &&
        fits(pod.shape.requests, place.left) &&
        !haveConflict(hostPorts, place.hostPorts) &&
        (claimKeys(pod.shape).length === 0 ||
          canAttach([...place.attached, ...claimKeys(pod.shape)], limitsOf(node, problem), problem, pod.shape)) &&
        (volumePlaces(pod.shape, problem)?.some((where) => labels.isCompatible(where)) ?? true) &&
        labels.isCompatible(variant.requirements);
      const chosen = isFine ? topology.narrow(pod.shape, variant, node.labels["kubernetes.io/hostname"]!, labels) : undefined;
      if (chosen === undefined || !labels.isCompatible(chosen)) continue;
      place.left = subtractResources(place.left, pod.shape.requests);
      place.pods.push(pod.key);
      place.attached = [...place.attached, ...claimKeys(pod.shape)];
      place.hostPorts = [...place.hostPorts, ...hostPorts];
      topology.placements.push({
        shape: pod.shape,
        hostname: node.name,
        requirements: labels,
        now: () => labels,
        taints: node.taints,
        isThere: true,
      });
      return true;
    }
    const byPods = claims.toSorted((a, b) => a.pods.length - b.pods.length);
    if (!isApart && byPods.some((claim) => joins(claim, pod, variant, false))) return true;
    isDeferred = false;
    for (const pool of pools) {
      if (pool.remaining.nodes !== undefined && pool.remaining.nodes <= 0) continue;
      const types = typesWithinLimits(pool);
      const hostname = `claim-${claims.length}`;
      const claim: ModelClaim = {
        pool,
        hostname,
        requirements: pool.requirements,
        types,
        requests: {},
        hostPorts: [],
        attached: [],
        held: new Set(),
        keys: new Set(),
        pods: [],
      };
      const isIn = joins(claim, pod, variant, true);
      if (!isIn && isDeferred) return false;
      if (!isIn) continue;
      for (const resource in pool.remaining)
        pool.remaining[resource]! -= resource === "nodes" ? 1 : Math.max(...claim.types.map(({ capacity }) => capacity[resource] ?? 0));
      claims.push(claim);
      return true;
    }
    return false;
  };

  const variantsOf = (shape: PodShape) => podVariants(shape, { preferencePolicy, mayPreferNot: mayPreferNot ?? false });
  const isPlaced = (pod: PodToPlace, pins?: Requirements): boolean => {
    for (const variant of variantsOf(pod.shape)) {
      isDeferred = false;
      if (pins !== undefined && !variant.requirements.intersects(pins)) continue;
      const requirements = pins === undefined ? variant.requirements : variant.requirements.and(pins);
      if (tryOnce(pod, { ...variant, requirements }, pins !== undefined)) return true;
      if (isDeferred) return false;
    }
    return false;
  };

  const supported = problem.pods.filter(({ shape }) => unsupportedFeatures(shape).length === 0);
  const leftOut = problem.pods.filter((pod) => !supported.includes(pod));
  const turns = ahead.filter(({ key }, at) => ahead.findIndex((other) => other.key === key) === at);
  const first = turns.flatMap(({ key, pins }) => supported.filter((pod) => pod.key === key && isPlaced(pod, pins)));
  const queue = supported.filter((pod) => !first.includes(pod)).sort(byQueueOrder);
  const lengthAtPush = new Map<string, number>();
  while (queue.length > 0 && lengthAtPush.get(queue[0]!.uid) !== queue.length) {
    const pod = queue.shift()!;
    if (isPlaced(pod)) continue;
    queue.push(pod);
    lengthAtPush.set(pod.uid, queue.length);
  }
  const fresh = modelPools(problem).filter(({ name }) => pools.some((pool) => pool.name === name));
  const isLate = (key: string): boolean => {
    const pod = queue.find((one) => one.key === key);
    if (pod === undefined) return false;
    const { requests } = pod.shape;
    return variantsOf(pod.shape).some(({ requirements, tolerations }) => {
      const isFor = (pool: ModelPool) =>
        untoleratedTaints(pool.taints ?? [], tolerations).length === 0 &&
        pool.requirements.isCompatible(requirements, wellKnown) &&
        typesWithinLimits(pool).some((type) => isKept(pool, type, pool.requirements.and(requirements), requests));
      const hasPlace = ({ node }: (typeof nodes)[number]) =>
        untoleratedTaints(node.taints, tolerations).length === 0 &&
        fits(requests, leftOn(node, problem)) &&
        Requirements.fromLabels(node.labels).isCompatible(requirements);
      return fresh.some(isFor) || nodes.some(hasPlace);
    });
  };
  /** Is the pod where the pins would not have it, or might not? */
  const isElsewhere = (key: string, pins: Requirements): boolean => {
    const node = nodes.find(({ pods }) => pods.includes(key));
    if (node !== undefined) return !Requirements.fromLabels(node.node.labels).isCompatible(pins);
    const claim = claims.find(({ pods }) => pods.includes(key));
    const keeps = (pin: Requirement) => {
      const own = claim!.requirements.find(pin.key);
      return own === undefined ? pin.operator === "Exists" && wellKnown.has(pin.key) : own.intersect(pin).equals(own);
    };
    return claim !== undefined && ![...pins].every(keeps);
  };
  const companyOf = (late: string): readonly ModelTurn[] => {
    const { shape } = supported.find(({ key }) => key === late)!;
    const { isSameNode, domains, selects } = topology.wishOf(shape, variantsOf(shape).at(-1)!);
    const companions = supported
      .toSorted(byQueueOrder)
      .filter((pod) => pod.key !== late && selects(pod.shape))
      .filter((pod, at, all) => all.findIndex((other) => other.shape === pod.shape) === at);
    const placesOf = ({ requirements }: PodVariant): readonly Requirements[] => {
      let places = [Requirements.of(...[...requirements].filter(({ key }) => isSameNode || domains.has(key)))];
      for (const [key, known] of domains) {
        const wishes = isSameNode ? known.map((domain) => Requirement.in(key, domain)) : [Requirement.of({ key, operator: "Exists" })];
        places = places.flatMap((place) =>
          wishes.filter((wish) => !isSameNode || place.intersects(Requirements.of(wish))).map((wish) => place.and([wish])),
        );
      }
      return places;
    };
    const all = variantsOf(shape).flatMap(placesOf);
    return all
      .filter((pins, at) => all.findIndex(({ canonicalText }) => canonicalText === pins.canonicalText) === at)
      .reverse()
      .flatMap((pins) => companions.filter(({ key }) => isSameNode || isElsewhere(key, pins)).map(({ key }) => ({ key, pins })));
  };
  /** In one domain of those that others keep it away from. */
  const domainsOf = (late: string): readonly ModelTurn[] => {
    const { shape } = supported.find(({ key }) => key === late)!;
    const variants = variantsOf(shape);
    return [...topology.apartAlong(shape, variants.at(-1)!)].flatMap(([key, domains]) =>
      domains
        .filter((domain) => variants.some(({ requirements }) => requirements.find(key)?.has(domain) ?? true))
        .map((domain) => ({ key: late, pins: Requirements.of(Requirement.in(key, domain)) })),
    );
  };
  return {
    isLate,
    companyOf,
    domainsOf,
    newNodes: claims.map(({ pool, pods, types, requirements, requests, held }) => ({
      pool: pool.name,
      pods: pods.toSorted(),
      reservations: [...held].sort(),
      types: listedTypes(pool, types, held.size === 0 ? requirements : pinned(requirements, held), requests, held)
        .map(({ name }) => name)
        .sort(),
      requirements: requirements.without(
        "karpenter.sh/capacity-type",
        "karpenter.sh/registered",
        "karpenter.sh/initialized",
        "node.kubernetes.io/instance-type",
        RESERVATION_ID,
      ).canonicalText,
    })),
    existingNodes: nodes.filter(({ pods }) => pods.length > 0).map(({ node, pods }) => ({ name: node.name, pods: pods.toSorted() })),
    unschedulable: [...queue, ...leftOut].map(({ key }) => key).sort(),
  };
}

/** S-141: narrowed to the only value of a label with which the claim can be had, where there is only one. */
function decidedAlong(
  keys: Iterable<string>,
  requirements: Requirements,
  { types }: ModelPool,
  isToBeHad: (requirements: Requirements) => boolean,
): Requirements {
  let left = requirements;
  for (const key of keys) {
    const own = left.find(key);
    if (own?.minValues !== undefined) continue;
    const values = own?.listedValues ?? valuesOf(key, types);
    const possible = values.map((value) => Requirement.in(key, value)).filter((one) => isToBeHad(left.and([one])));
    if (possible.length === 1) left = left.and(possible);
  }
  return left;
}

/** Of a label that each offering has, or else each type; none where one of them leaves it open. */
function valuesOf(key: string, types: readonly InstanceType[]): readonly string[] {
  const byOffering = types.flatMap(({ offerings }) => offerings.map((offering) => Requirements.fromItems(offering.requirements)));
  for (const labels of [byOffering, types.map(typeOf)]) {
    const lists = labels.map((one) => one.find(key)?.listedValues ?? []);
    if (lists.every(({ length }) => length > 0)) return [...new Set(lists.flat())];
  }
  return [];
}

function typesWithinLimits({ types, remaining }: ModelPool): readonly InstanceType[] {
  if ((remaining.nodes ?? 1) <= 0) return [];
  const limits = Object.entries(remaining).filter(([resource]) => resource !== "nodes");
  return types.filter(({ capacity }) => limits.every(([resource, left]) => (capacity[resource] ?? 0) <= left));
}

function modelPools({ pools, nodes }: Problem): readonly ModelPool[] {
  return pools
    .toSorted(
      ({ nodePool: a }, { nodePool: b }) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || (a.metadata!.name! < b.metadata!.name! ? 1 : -1),
    )
    .map(({ nodePool, instanceTypes }) => {
      const remaining: Record<string, number> = { ...parseResources(nodePool.spec.limits) };
      for (const { capacity } of nodes.filter((node) => node.labels["karpenter.sh/nodepool"] === nodePool.metadata!.name)) {
        for (const resource in remaining) remaining[resource]! -= resource === "nodes" ? 1 : (capacity[resource] ?? 0);
      }
      const { taints } = nodePool.spec.template.spec;
      return { name: nodePool.metadata!.name!, taints, requirements: templateRequirements(nodePool), types: instanceTypes, remaining };
    });
}

/** S-64. */
function isUsableType(pool: ModelPool, type: InstanceType, wellKnown: ReadonlySet<string>): boolean {
  return (
    typeOf(type).intersects(pool.requirements) &&
    allocatableGroups(type).some(
      ({ allocatable, offerings }) =>
        fits({}, allocatable) &&
        offerings.some((offering) => pool.requirements.isCompatible(Requirements.fromItems(offering.requirements), wellKnown)),
    )
  );
}

function leftOn(node: ExistingNode, { daemonSets }: Problem): Resources {
  const labels = Requirements.fromLabels(node.labels);
  const expected = daemonSets.filter(
    ({ shape }) =>
      untoleratedTaints(node.taints, shape.tolerations).every(({ effect }) => effect === "PreferNoSchedule") &&
      labels.isCompatible(podRequirements(shape)[0]!),
  );
  const due: Record<string, number> = { ...sumResources(...expected.map(({ shape }) => shape.requests)) };
  for (const resource in due) due[resource] = Math.max(0, due[resource]! - (node.daemonSetRequests[resource] ?? 0));
  return subtractResources(node.available, due);
}

function portsOn({ name }: ExistingNode, { boundPods = [] }: Problem): readonly HostPort[] {
  return boundPods.filter(({ site }) => site.name === name).flatMap(({ shape }) => shape.hostPorts ?? []);
}

function claimKeys({ namespace, claimNames = [] }: PodShape): readonly string[] {
  return claimNames.map((name) => `${namespace}/${name}`);
}

function attachedTo({ name }: ExistingNode, { boundPods = [] }: Problem): readonly string[] {
  return boundPods.filter(({ site }) => site.name === name).flatMap(({ shape }) => claimKeys(shape));
}

/** Only drivers that the pod itself needs can refuse it. */
function canAttach(keys: readonly string[], limits: Readonly<Record<string, number>>, { claims }: Problem, asking?: PodShape): boolean {
  const driverOf = (key: string) => claims?.get(key)?.driver;
  const asked = asking === undefined ? undefined : new Set(claimKeys(asking).map(driverOf));
  return Object.entries(limits).every(([driver, limit]) => {
    if (asked !== undefined && !asked.has(driver)) return true;
    return new Set(keys.filter((key) => driverOf(key) === driver)).size <= limit;
  });
}

function limitsOf({ labels, volumeLimits }: ExistingNode, { pools }: Problem): Readonly<Record<string, number>> {
  const pool = pools.find(({ nodePool }) => nodePool.metadata!.name === labels["karpenter.sh/nodepool"]);
  const type = pool?.instanceTypes.find(({ name }) => name === labels["node.kubernetes.io/instance-type"]);
  return { ...type?.volumeLimits, ...volumeLimits };
}

/** S-122, S-124. */
function volumePlaces(shape: PodShape, { claims }: Problem): readonly Requirements[] | undefined {
  let places: readonly Requirements[] | undefined;
  for (const key of claimKeys(shape)) {
    const own = (claims?.get(key)?.alternatives ?? []).map((items) => Requirements.fromItems(items));
    if (own.length === 0) continue;
    if (places === undefined) {
      places = own;
      continue;
    }
    const pairs: readonly (readonly [Requirements, Requirements])[] = places.flatMap((one) => own.map((other) => [one, other] as const));
    places = pairs.filter(([one, other]) => one.intersects(other)).map(([one, other]) => one.and(other));
  }
  return places;
}

/** V-74. */
function shortfalls(
  requirements: Requirements,
  types: readonly InstanceType[],
): readonly { readonly key: string; readonly found: number }[] {
  return [...requirements].flatMap((requirement) => {
    const { key, minValues } = requirement;
    if (minValues === undefined) return [];
    const values = types.flatMap((type) => typeOf(type).find(key)?.listedValues ?? []);
    const found = new Set(values.filter((value) => requirement.has(value))).size;
    return found < minValues ? [{ key, found }] : [];
  });
}

/** S-82. */
export function byQueueOrder(a: PodToPlace, b: PodToPlace): number {
  const { requests: x } = a.shape;
  const { requests: y } = b.shape;
  const seconds = (pod: PodToPlace) => Math.floor(pod.createdAtMs / 1000);
  return (y.cpu ?? 0) - (x.cpu ?? 0) || (y.memory ?? 0) - (x.memory ?? 0) || seconds(a) - seconds(b) || (a.uid < b.uid ? -1 : 1);
}

function typeOf(type: InstanceType): Requirements {
  return Requirements.fromItems(type.requirements);
}
