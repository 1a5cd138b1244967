/** Everything that rules may look at, made once per run. */
import { type LabelVocabulary, type Node, NodeOverlays, NodePools, Nodes, type TopologySpreadConstraint } from "@joinery/api";
import type { Clock, Random } from "@joinery/kube";
import type { OverlayVerdict } from "@joinery/scheduling";
import type { Loaded } from "../manifests/load.ts";
import type { Catalogue } from "../plan/catalogue.ts";
import { classedCatalogue } from "../plan/classed-catalogue.ts";
import { createObjectSource } from "../plan/input.ts";
import { overlaidCatalogue } from "../plan/overlaid-catalogue.ts";
import { type Answers, askSolver } from "./answers.ts";
import { type LocatedObjects, locatedObjects } from "./located.ts";
import { type PoolFacts, poolFacts } from "./pool-facts.ts";
import { type CatalogueFacts, catalogueFacts, mergedFacts } from "./type-facts.ts";
import { findWorkloads, type Workload } from "./workloads.ts";

export interface Facts {
  readonly objects: LocatedObjects;
  /** In the order in which they are tried (S-60). */
  readonly pools: readonly PoolFacts[];
  /** With DaemonSets. */
  readonly workloads: readonly Workload[];
  readonly nodes: readonly Node[];
  /** Resources that NodeOverlays add to types, which the catalogue does not know. */
  readonly overlaidResources: ReadonlySet<string>;
  /** By name: which NodeOverlays hold, whether or not the gate is on. */
  readonly overlays: ReadonlyMap<string, OverlayVerdict>;
  readonly answers: Answers;
  /** Of all pools together. */
  readonly catalogue: CatalogueFacts;
  readonly vocabulary: LabelVocabulary;
  readonly nowMs: number;
  /** Kinds of which the input has all objects that there are. */
  readonly wholeKinds: ReadonlySet<string>;
}

export interface LintRequest {
  readonly loaded: Loaded;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly random: Random;
  /** Of pods that have no spread of their own (S-157). */
  readonly defaultSpread?: readonly TopologySpreadConstraint[];
  /** NodeOverlays change the types (feature gate `NodeOverlay`). */
  readonly hasOverlays?: boolean;
}

export async function gatherFacts(request: LintRequest): Promise<Facts> {
  const { loaded, clock, random, defaultSpread = [], hasOverlays = false } = request;
  const source = createObjectSource(loaded.manifests);
  const classed = classedCatalogue(request.catalogue, source);
  const overlaid = overlaidCatalogue(classed, source.of(NodeOverlays), source.of(NodePools));
  const catalogue = hasOverlays ? overlaid.catalogue : classed;
  const objects = locatedObjects(loaded.manifests, source);
  const pools = poolFacts(objects, catalogue);
  const workloads = findWorkloads(objects);
  return {
    objects,
    pools,
    workloads,
    nodes: source.of(Nodes),
    overlaidResources: new Set(source.of(NodeOverlays).flatMap(({ spec }) => Object.keys(spec.capacity ?? {}))),
    overlays: overlaid.verdicts,
    answers: await askSolver({ source, workloads, pools, catalogue, clock, random, defaultSpread }),
    catalogue: pools.length === 0 ? catalogueFacts(catalogue.types) : mergedFacts(pools.map((pool) => pool.catalogue)),
    vocabulary: catalogue.vocabulary,
    nowMs: clock.wallMs(),
    wholeKinds: loaded.wholeKinds ?? new Set(),
  };
}
