/** What may be wrong with the input rather than with the cluster that it stands for: objects that were left out, a catalogue of elsewhere. */
import {
  type Kind,
  type KubeObject,
  type Node,
  type NodePool,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  ZONE_LABEL,
} from "@joinery/api";
import { isLaunchable, type RequirementItem, Requirements } from "@joinery/scheduling";
import type { Catalogue } from "./catalogue.ts";
import type { ObjectSource } from "./input.ts";

export interface HintRequest {
  /** Codes of the reasons why pods have no place. */
  readonly codes: ReadonlySet<string>;
  /** Pools that no instance type is left for. */
  readonly emptyPools: readonly NodePool[];
  readonly source: ObjectSource;
  readonly catalogue: Pick<Catalogue, "source" | "types">;
}

/** Zones that are named in a hint. */
const ZONES_SHOWN = 3;

/** A sentence each, without a full stop. */
export function inputHints({ codes, emptyPools, source, catalogue }: HintRequest): readonly string[] {
  const volumes = codes.has("invalid-volume") ? missingStorage(source) : undefined;
  const region = nodesElsewhere(source.of(Nodes), catalogue);
  return [
    ...(region === undefined ? [] : [region]),
    ...(volumes === undefined ? [] : [volumes]),
    ...emptyPools.flatMap((pool) => elsewhere(pool, catalogue) ?? []),
  ];
}

/** A cluster of one region planned with the types of another gives nodes that it cannot have. */
function nodesElsewhere(nodes: readonly Node[], { source, types }: HintRequest["catalogue"]): string | undefined {
  const zones = new Set(nodes.flatMap(({ metadata }) => metadata?.labels?.[ZONE_LABEL] ?? []));
  if (zones.size === 0) return undefined;
  const offered = new Set(
    types.flatMap(({ offerings }) =>
      offerings.flatMap(({ requirements }) => requirements.flatMap(({ key, values = [] }) => (key === ZONE_LABEL ? values : []))),
    ),
  );
  if (offered.size === 0 || [...zones].some((zone) => offered.has(zone))) return undefined;
  const shown = [...zones].sort().slice(0, ZONES_SHOWN).join(", ");
  return `Nodes exist in ${shown}${zones.size > ZONES_SHOWN ? " …" : ""}, where ${source} has no types; for those of the cluster's region give --catalog FILE`;
}

const STORAGE: readonly Kind[] = [PersistentVolumeClaims, PersistentVolumes, StorageClasses];

function missingStorage(source: ObjectSource): string | undefined {
  const missing = STORAGE.filter((kind) => source.of<KubeObject>(kind).length === 0).map(({ kind }) => kind);
  if (missing.length === 0) return undefined;
  return `The input has no ${missing.join(", no ")}; what the volumes of pods need may only be missing here: add kubectl get pvc,pv,sc -A -o json`;
}

function elsewhere(pool: NodePool, { source, types }: HintRequest["catalogue"]): string | undefined {
  const guilty = pool.spec.template.spec.requirements.find((item) => !isMetBySome(item, types));
  if (guilty === undefined) return undefined;
  const { key, operator, values = [] } = guilty;
  const wish = values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(", ")}]`;
  return `NodePool ${pool.metadata?.name}: no instance type of ${source} is to be had with ${wish}; for types of elsewhere give --catalog FILE`;
}

function isMetBySome(item: RequirementItem, types: Catalogue["types"]): boolean {
  const wish = Requirements.fromItems([item]);
  return types.some(
    ({ requirements, offerings }) =>
      wish.intersects(Requirements.fromItems(requirements)) &&
      offerings.some((offering) => isLaunchable(offering) && wish.intersects(Requirements.fromItems(offering.requirements))),
  );
}
