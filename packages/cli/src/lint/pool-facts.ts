/** A NodePool of the input with what follows from it and the catalogue alone. Rules S-59, S-60, S-62. */
import {
  Ec2NodeClasses,
  type Invalidity,
  type Kind,
  type KubeObject,
  KwokNodeClasses,
  NODE_POOL_LABEL,
  type NodePool,
  NodePools,
  nodeClassLabel,
  parseQuantity,
  parseResources,
  type Resources,
  type Taint,
  validateNodePool,
} from "@joinery/api";
import { compareTexts, Requirement, Requirements } from "@joinery/scheduling";
import type { Manifest } from "../manifests/manifest.ts";
import type { Catalogue } from "../plan/catalogue.ts";
import { type Located, type LocatedObjects, nameOf } from "./located.ts";
import { type CatalogueFacts, catalogueFacts, type TypeFacts, typesUnder } from "./type-facts.ts";

export interface PoolFacts {
  readonly name: string;
  readonly pool: NodePool;
  readonly manifest: Manifest;
  readonly taints: readonly Taint[];
  /** What every node of it will meet (S-62), without registered and initialized. */
  readonly requirements: Requirements;
  /** Of its node class. */
  readonly catalogue: CatalogueFacts;
  /** Types that it can launch. */
  readonly types: readonly TypeFacts[];
  readonly limits: Resources;
  readonly weight: number;
  readonly isStatic: boolean;
  readonly nodeClass: NodeClassFacts;
  /** What the controller finds wrong with it at run time. */
  readonly faults: readonly Invalidity[];
  /** Found wrong, but tolerated. */
  readonly concerns: readonly Invalidity[];
  /** The controller can make nodes of it: no faults, and a node class of this catalogue's provider. */
  readonly isSound: boolean;
}

type NodeClassFacts =
  /** Of a kind that this catalogue's provider does not have. */
  | { readonly kind: "foreign" }
  /** `others`: names of those of its kind that are there. */
  | { readonly kind: "missing"; readonly others: readonly string[] }
  | { readonly kind: "found"; readonly object: KubeObject; readonly manifest: Manifest };

/** In the order in which they are tried (S-60). Pools that are being deleted are left out. */
export function poolFacts(objects: LocatedObjects, catalogue: Catalogue): readonly PoolFacts[] {
  const catalogues = new Map<unknown, CatalogueFacts>();
  return objects
    .of(NodePools)
    .filter(({ object }) => object.metadata?.deletionTimestamp === undefined)
    .map(({ object: pool, manifest }): PoolFacts => {
      const types = catalogue.typesFor(pool);
      const facts = catalogues.get(types) ?? catalogueFacts(types);
      catalogues.set(types, facts);
      const { invalid, warnings } = validateNodePool(pool, catalogue.vocabulary);
      const requirements = requirementsOf(pool);
      const nodeClass = nodeClassOf(pool, objects, catalogue);
      const { replicas, weight, limits, template } = pool.spec;
      return {
        name: nameOf(pool),
        pool,
        manifest,
        taints: template.spec.taints ?? [],
        requirements,
        catalogue: facts,
        types: typesUnder(requirements, facts),
        limits: readableLimits(limits),
        weight: weight ?? 0,
        isStatic: replicas !== undefined && replicas !== null,
        nodeClass,
        faults: invalid,
        concerns: warnings,
        isSound: invalid.length === 0 && nodeClass.kind !== "foreign",
      };
    })
    .sort((a, b) => b.weight - a.weight || compareTexts(b.name, a.name));
}

/** A quantity that admission takes and nothing can read is a fault of the pool. */
function readableLimits(limits: NodePool["spec"]["limits"]): Resources {
  return parseResources(Object.fromEntries(Object.entries(limits ?? {}).filter(([, text]) => parseQuantity(text) !== undefined)));
}

function requirementsOf(pool: NodePool): Requirements {
  const { metadata, spec } = pool.spec.template;
  return Requirements.fromItems(spec.requirements)
    .and(Requirements.fromLabels(metadata?.labels))
    .and([Requirement.in(NODE_POOL_LABEL, nameOf(pool)), Requirement.in(nodeClassLabel(spec.nodeClassRef), spec.nodeClassRef.name)]);
}

function nodeClassOf(pool: NodePool, objects: LocatedObjects, { nodeClassKinds }: Catalogue): NodeClassFacts {
  const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
  if (!nodeClassKinds.some((known) => known.group === group && known.kind === kind)) return { kind: "foreign" };
  const kinds: readonly Kind[] = [Ec2NodeClasses, KwokNodeClasses];
  const own = kinds.find((one) => one.kind === kind);
  const classes: readonly Located<KubeObject>[] = own === undefined ? [] : objects.of<KubeObject>(own);
  const found = classes.find(({ object }) => nameOf(object) === name);
  if (found !== undefined) return { kind: "found", ...found };
  return { kind: "missing", others: classes.map(({ object }) => nameOf(object)).sort() };
}
