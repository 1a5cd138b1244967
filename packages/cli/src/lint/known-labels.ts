/** Which label keys and values nodes can have at all: of the catalogue, of pools, of existing nodes. Rules S-39, S-40, S-42. */
import { HOSTNAME_LABEL, NODE_POOL_LABEL, normalizeLabel, OS_LABEL, REGION_LABEL, ZONE_LABEL } from "@joinery/api";
import { nearKey, Requirement, Requirements } from "@joinery/scheduling";
import type { Facts } from "./facts.ts";
import { nameOf } from "./located.ts";
import { zonesOf } from "./zones.ts";

export interface KnownLabels {
  /** Can some node have this label? */
  hasKey(key: string): boolean;
  /** The known key that was probably meant. */
  findIntendedKey(key: string): string | undefined;
  /** undefined where any value is possible, or where none can be known. */
  valuesOf(key: string): ReadonlySet<string> | undefined;
  /** Of zones, those in which some pool can launch something; of other labels the same as `valuesOf`. */
  offeredValuesOf(key: string): ReadonlySet<string> | undefined;
  /** A value that this catalogue lacks and another has: a zone of another region, a reservation, another system. */
  isElsewhere(key: string, value: string): boolean;
}

/** Labels whose values are things that people make in their accounts, or that follow from a machine image. */
const OF_ACCOUNTS = /^karpenter\.k8s\.aws\/(capacity-reservation|placement-group)-|^node\.kubernetes\.io\/windows-build$/;
/** Which of them a type can be follows from the node class, which catalogues do not look at. */
const SYSTEMS = new Set(["linux", "windows"]);

const remembered = new WeakMap<Facts, KnownLabels>();

export function knownLabels(facts: Facts): KnownLabels {
  const known = remembered.get(facts) ?? createKnownLabels(facts);
  remembered.set(facts, known);
  return known;
}

function createKnownLabels({ pools, nodes, catalogue, vocabulary }: Facts): KnownLabels {
  const values = new Map<string, Set<string>>();
  const open = new Set<string>();
  const add = (key: string, some: Iterable<string>) => {
    const set = values.get(key) ?? new Set();
    for (const value of some) set.add(value);
    values.set(key, set);
  };
  for (const [key, some] of catalogue.values) add(key, some);
  for (const { requirements, name } of pools) {
    add(NODE_POOL_LABEL, [name]);
    for (const requirement of requirements) {
      const isOfCatalogue = catalogue.values.has(requirement.key) && vocabulary.wellKnown.has(requirement.key);
      if (isOfCatalogue || requirement.operator === "DoesNotExist") continue;
      if (requirement.listedValues === undefined) open.add(requirement.key);
      add(requirement.key, requirement.listedValues ?? []);
    }
  }
  for (const node of nodes) {
    for (const [key, value] of Object.entries(node.metadata?.labels ?? {})) add(key, [value]);
    add(HOSTNAME_LABEL, [nameOf(node)]);
  }
  const own = Requirements.of(...Array.from(values.keys(), (key) => Requirement.of({ key, operator: "Exists" })));
  const isKnown = (key: string) => key === HOSTNAME_LABEL || values.has(key) || vocabulary.wellKnown.has(key);
  const valuesOf = (key: string) => {
    const name = normalizeLabel(key, vocabulary);
    const some = values.get(name);
    return open.has(name) || some === undefined || some.size === 0 ? undefined : some;
  };
  const zones = new Set(pools.flatMap((pool) => [...zonesOf(pool)]));
  return {
    hasKey: (key) => isKnown(normalizeLabel(key, vocabulary)),
    findIntendedKey: (key) => {
      const [undefinedLabel] = own.incompatibilities(Requirements.of(Requirement.of({ key, operator: "Exists" })), vocabulary.wellKnown);
      const hint = undefinedLabel?.kind === "undefined-label" ? undefinedLabel.typoOf : undefined;
      return nearKey(key, new Set([...values.keys(), ...vocabulary.wellKnown, NODE_POOL_LABEL])) ?? hint;
    },
    valuesOf,
    offeredValuesOf: (key) => (normalizeLabel(key, vocabulary) === ZONE_LABEL && zones.size > 0 ? zones : valuesOf(key)),
    isElsewhere: (key, value) => {
      const name = normalizeLabel(key, vocabulary);
      if (name === ZONE_LABEL) return isZoneOfOtherRegion(value, catalogue.values.get(REGION_LABEL) ?? []);
      if (OF_ACCOUNTS.test(name)) return true;
      return name === OS_LABEL ? SYSTEMS.has(value) : (vocabulary.knownValues[name]?.includes(value) ?? false);
    },
  };
}

/** Zones of AWS are named after their region: `us-west-2a`. */
function isZoneOfOtherRegion(zone: string, regions: Iterable<string>): boolean {
  const own = [...regions];
  return own.length > 0 && /^[a-z]{2}(-[a-z]+)+-\d[a-z]$/.test(zone) && !own.includes(zone.slice(0, -1));
}
