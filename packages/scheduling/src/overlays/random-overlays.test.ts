/** Overlays against a model that looks at each pool, type and offering by itself. Rules A-52…A-56, L-226…L-234. */
import { CORE_VOCABULARY, changedPrice, NODE_POOL_LABEL, type NodeOverlay, parseResources } from "@joinery/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { InstanceType, Offering } from "../instance-type.ts";
import { decidedLabels } from "../requirements/items.ts";
import { meetsRequirements } from "../requirements/node-labels.ts";
import { Requirements } from "../requirements/requirements.ts";
import { anOffering, aPool, aType } from "../testing/builders.ts";
import { evaluateOverlays } from "./evaluate-overlays.ts";

const RUNS = 300;
const ZONE = "topology.kubernetes.io/zone";
const INSTANCE_TYPE = "node.kubernetes.io/instance-type";

const anItem = fc.oneof(
  fc.record({ key: fc.constant(ZONE), operator: fc.constantFrom("In", "NotIn"), values: fc.subarray(["z1", "z2"], { minLength: 1 }) }),
  fc.record({ key: fc.constant(INSTANCE_TYPE), operator: fc.constant("In"), values: fc.subarray(["a", "b", "c"], { minLength: 1 }) }),
  fc.record({ key: fc.constant("team"), operator: fc.constantFrom("In", "NotIn"), values: fc.subarray(["x", "y"], { minLength: 1 }) }),
  fc.record({ key: fc.constant(NODE_POOL_LABEL), operator: fc.constant("In"), values: fc.subarray(["p", "q"], { minLength: 1 }) }),
);
const aSpec = fc.record(
  {
    weight: fc.integer({ min: 1, max: 2 }),
    price: fc.constantFrom("1", "2.5"),
    priceAdjustment: fc.constantFrom("-10%", "+3", "-100%"),
    capacity: fc.dictionary(fc.constantFrom("gpu", "fuse"), fc.constantFrom("1", "4"), { minKeys: 1 }),
  },
  { requiredKeys: [] },
);
const overlays = fc.array(fc.tuple(aSpec, fc.array(anItem, { maxLength: 2 })), { maxLength: 5 }).map((list) =>
  list.map(([{ price, priceAdjustment, ...spec }, requirements], at) => {
    const change = price === undefined ? priceAdjustment && { priceAdjustment } : { price };
    return { metadata: { name: `o${at}` }, spec: { ...spec, ...change, requirements } } as unknown as NodeOverlay;
  }),
);

const types = ["a", "b", "c"].map((name) =>
  aType({ name, cpu: 2, memory: "4Gi", offerings: (name === "c" ? ["z1"] : ["z1", "z2"]).map((zone) => anOffering("spot", zone, 10)) }),
);
const pools = [aPool({ name: "p", labels: { team: "x" } }), aPool({ name: "q", labels: { team: "y" } }), aPool({ name: "r" })];

/** With the labels that a node of this pool, type and offering has: only single values here, so meeting them is plain. */
function isMeant(overlay: NodeOverlay, pool: (typeof pools)[number], type: InstanceType, offering: Offering): boolean {
  const labels = {
    [INSTANCE_TYPE]: type.name,
    ...pool.spec.template.metadata?.labels,
    [NODE_POOL_LABEL]: pool.metadata?.name ?? "",
    ...decidedLabels(offering.requirements),
  };
  return meetsRequirements(labels, Requirements.fromItems(overlay.spec.requirements));
}

const heaviestFirst = (a: NodeOverlay, b: NodeOverlay) =>
  (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? 1 : -1);
const priceOf = ({ spec }: NodeOverlay) => spec.price ?? spec.priceAdjustment;

function modelOf(all: readonly NodeOverlay[]) {
  const holding: NodeOverlay[] = [];
  for (const overlay of all.toSorted(heaviestFirst)) {
    const equals = holding.filter(({ spec }) => (spec.weight ?? 0) === (overlay.spec.weight ?? 0));
    const isFree = equals.every((other) =>
      pools.every((pool) =>
        types.every((type) => {
          const both = type.offerings.map((offering) => [isMeant(overlay, pool, type, offering), isMeant(other, pool, type, offering)]);
          const sharesPrice = priceOf(overlay) !== undefined && priceOf(other) !== undefined && both.some(([one, two]) => one && two);
          const resources = Object.keys(overlay.spec.capacity ?? {}).filter((name) => name in (other.spec.capacity ?? {}));
          const sharesType = both.some(([one]) => one) && both.some(([, two]) => two);
          return !sharesPrice && !(resources.length > 0 && sharesType);
        }),
      ),
    );
    if (isFree) holding.push(overlay);
  }
  return { names: holding.map(({ metadata }) => metadata?.name).sort(), holding };
}

test("verdicts, prices and capacities are the model's, in whatever order overlays and pools come", () => {
  fc.assert(
    fc.property(overlays, fc.boolean(), (all, isReversed) => {
      const offers = pools.map((nodePool) => ({ nodePool, instanceTypes: types }));
      const given = isReversed ? all.toReversed() : all;
      const { verdicts, overlays: set } = evaluateOverlays(given, isReversed ? offers.toReversed() : offers, CORE_VOCABULARY);
      const { names, holding } = modelOf(all);
      expect([...verdicts].flatMap(([name, { kind }]) => (kind === "valid" ? [name] : [])).sort()).toEqual(names);
      for (const pool of pools) {
        for (const [at, type] of set.typesFor(pool, types).entries()) {
          const original = types[at]!;
          const prices = original.offerings.map((offering) => {
            const first = holding.find((overlay) => priceOf(overlay) !== undefined && isMeant(overlay, pool, original, offering));
            return first === undefined ? 10 : changedPrice(10, priceOf(first)!);
          });
          expect(type.offerings.map(({ priceUsdPerHour }) => priceUsdPerHour)).toEqual(prices);
          const touching = holding.filter((overlay) => original.offerings.some((offering) => isMeant(overlay, pool, original, offering)));
          const added = Object.assign({}, ...touching.toReversed().map(({ spec }) => spec.capacity));
          expect(type.capacity).toEqual({ ...original.capacity, ...parseResources(added) });
        }
      }
    }),
    { numRuns: RUNS },
  );
});
