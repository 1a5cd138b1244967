/** What may be wrong with the input rather than with the cluster that it stands for: objects that were left out, a catalogue of elsewhere. */
import { type KubeObject, type Node, type NodePool, Nodes, ZONE_LABEL } from "@joinery/api";
import { nearWord, type ReasonDocument } from "@joinery/scheduling";
import { listText } from "../lint/words.ts";
import type { Catalogue } from "./catalogue.ts";
import { emptyPoolText } from "./empty-pool.ts";
import type { ObjectsOf } from "./file-kube-client.ts";
import type { ObjectSource } from "./input.ts";
import { storageHints } from "./storage-hints.ts";

export interface HintRequest {
  /** `namespace/name` of claims because of which pods have no place. */
  readonly faultyClaims: ReadonlySet<string>;
  /** Pools that no instance type is left for. */
  readonly emptyPools: readonly NodePool[];
  /** Pools that may get nodes. */
  readonly usedPools: readonly NodePool[];
  readonly source: ObjectSource;
  /** What the source becomes: with the claims that StatefulSets will make. */
  readonly objects: ObjectsOf;
  readonly catalogue: Pick<Catalogue, "source" | "types" | "regions" | "nodeClassKinds">;
}

/** Zones that are named in a hint. */
const ZONES_SHOWN = 3;

/** A sentence each, without a full stop. */
export function inputHints(request: HintRequest): readonly string[] {
  const { faultyClaims, emptyPools, usedPools, objects, source, catalogue } = request;
  const region = nodesElsewhere(source.of(Nodes), catalogue);
  return [
    ...(region === undefined ? [] : [region]),
    ...storageHints(faultyClaims, objects),
    ...emptyPools.flatMap((pool) => {
      const text = emptyPoolText(pool, catalogue);
      return text === undefined ? [] : [`NodePool ${pool.metadata?.name}: ${text}`];
    }),
    ...usedPools.flatMap((pool) => missingClass(pool, request) ?? []),
  ];
}

/** Those that the reasons of pods name. */
export function faultyClaims(reasons: Iterable<ReasonDocument>): ReadonlySet<string> {
  const claims = new Set<string>();
  for (const { code, detail } of reasons) if (code === "invalid-volume" && typeof detail.claim === "string") claims.add(detail.claim);
  return claims;
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

/** Such a class counts as ready, because the input may only be a part of the cluster; but where others of its kind are here, its name may be wrong. */
function missingClass({ metadata, spec }: NodePool, { source, catalogue: { nodeClassKinds } }: HintRequest): string | undefined {
  const { group, kind, name } = spec.template.spec.nodeClassRef;
  const known = nodeClassKinds.find((one) => one.group === group && one.kind === kind);
  const names = known === undefined ? [] : source.of<KubeObject>(known).map((one) => one.metadata?.name ?? "");
  if (names.length === 0 || names.includes(name)) return undefined;
  const near = nearWord(name, names);
  const instead = near === undefined ? `the input has ${listText([...names].sort())}` : `did you mean ${near}?`;
  return `NodePool ${metadata?.name}: the input has no ${kind} ${name}, which counts as ready here; ${instead}`;
}
