/** Why no instance type is left for a pool, in words that say which requirement it is and what to write instead. Rules S-57, S-64. */
import { type NodePool, ZONE_LABEL } from "@joinery/api";
import { nearestWords, nearValue, type Reason, type RequirementItem, Requirements, sentence } from "@joinery/scheduling";
import { itemText } from "../lint/requirement-text.ts";
import { type CatalogueFacts, catalogueFacts, type TypeFacts, typesUnder } from "../lint/type-facts.ts";
import { listText } from "../lint/words.ts";
import type { Catalogue } from "./catalogue.ts";

type Offered = Pick<Catalogue, "source" | "types" | "regions">;

/** A requirement that conflicts with others, and the values of its label that those leave. */
interface WayOut {
  readonly item: RequirementItem;
  readonly others: readonly RequirementItem[];
  readonly left: ReadonlySet<string>;
}

const ELSEWHERE = "for types of elsewhere give --catalog FILE";

/** Without a full stop and without the pool's name; of a pool that the solver dropped. */
export function droppedPoolText(pool: NodePool, reason: Reason, catalogue: Offered): string {
  if (reason.kind !== "min-values") return emptyPoolText(pool, catalogue) ?? sentence(reason);
  return reason.labels
    .map(({ key, wanted, found }) => {
      const write = found === 0 ? "leave minValues out" : `write minValues: ${found} or less`;
      return `its instance types have ${found} different values of ${key}, and minValues asks for ${wanted}; ${write}, or requirements that leave more types, or plan with --min-values-policy BestEffort`;
    })
    .join("; ");
}

/** undefined where the requirements leave types, so that it is something else that takes them away. */
export function emptyPoolText(pool: NodePool, { source, types, regions = [] }: Offered): string | undefined {
  const facts = catalogueFacts(types);
  const conflict = smallestConflict(itemsOf(pool, facts), facts);
  const [item, ...others] = conflict;
  if (item === undefined) return undefined;
  const names = conflict.map(itemText);
  if (others.length === 0) return `no instance type of ${source} is to be had with ${names[0]}; ${whatToWrite(item, facts, regions)}`;
  return `no instance type of ${source} is to be had with ${listText(names, names.length)} together; ${wayOutText(conflict, facts)}`;
}

function wayOutText(conflict: readonly RequirementItem[], facts: CatalogueFacts): string {
  const way = wayOut(conflict, facts);
  return way === undefined
    ? "leave one of them out"
    : `beside ${way.others.map(itemText).join(" and ")}, ${way.item.key} can be ${listText([...way.left].sort())}`;
}

/** What cannot be had together, and what can; undefined where one requirement alone leaves no type, or all together leave some. */
export function conflictText(pool: NodePool, facts: CatalogueFacts): { readonly what: string; readonly instead: string } | undefined {
  const conflict = smallestConflict(itemsOf(pool, facts), facts);
  if (conflict.length < 2) return undefined;
  return { what: listText(conflict.map(itemText), conflict.length), instead: wayOutText(conflict, facts) };
}

/** Its requirements, and those of its labels that types have too. */
function itemsOf({ spec: { template } }: NodePool, { values }: CatalogueFacts): readonly RequirementItem[] {
  const labels = Object.entries(template.metadata?.labels ?? {}).filter(([key]) => values.has(key));
  return [...template.spec.requirements, ...labels.map(([key, value]) => ({ key, operator: "In" as const, values: [value] }))];
}

/** The first that leaves no type alone, or else a set of which none can be spared; empty where all together leave some. */
function smallestConflict(items: readonly RequirementItem[], facts: CatalogueFacts): readonly RequirementItem[] {
  if (typesOf(items, facts).length > 0) return [];
  const alone = items.find((item) => typesOf([item], facts).length === 0);
  if (alone !== undefined) return [alone];
  return items.reduce((core, item) => {
    const rest = core.filter((other) => other !== item);
    return typesOf(rest, facts).length === 0 ? rest : core;
  }, items);
}

function typesOf(items: readonly RequirementItem[], facts: CatalogueFacts): readonly TypeFacts[] {
  return typesUnder(Requirements.fromItems(items), facts);
}

function whatToWrite({ key, operator, values: [wanted] = [] }: RequirementItem, facts: CatalogueFacts, regions: readonly string[]): string {
  const offered = valuesAmong(key, facts.types);
  const region = key === ZONE_LABEL ? regions.find((name) => wanted?.slice(0, -1) === name) : undefined;
  if (region !== undefined && ![...offered].some((zone) => zone.startsWith(region))) return `for types of there give --region ${region}`;
  if (operator !== "In" || wanted === undefined || offered.size === 0) return ELSEWHERE;
  const isKnown = facts.values.get(key)?.has(wanted) ?? false;
  const near = isKnown ? undefined : nearValue(key, wanted, offered);
  if (near !== undefined) return `did you mean ${near}? Else ${ELSEWHERE}`;
  return `there are ${listText(nearestWords(wanted, offered, offered.size))}; ${ELSEWHERE}`;
}

/** The requirement whose label has the fewest values beside the others: the shortest list is the one that says most. */
function wayOut(conflict: readonly RequirementItem[], facts: CatalogueFacts): WayOut | undefined {
  const ways = conflict.map((item): WayOut => {
    const others = conflict.filter((other) => other !== item);
    return { item, others, left: valuesAmong(item.key, typesOf(others, facts), Requirements.fromItems(others)) };
  });
  return ways.filter(({ left }) => left.size > 0).sort((a, b) => a.left.size - b.left.size)[0];
}

/** Of what can be launched: an offering says more than its type, which lists the zones of all. */
function valuesAmong(key: string, types: readonly TypeFacts[], wish?: Requirements): ReadonlySet<string> {
  const values = new Set<string>();
  for (const { requirements, offerings } of types) {
    const own = requirements.find(key)?.listedValues ?? [];
    const open = offerings.filter((offering) => wish === undefined || wish.intersects(offering));
    const offered = open.flatMap((offering) => offering.find(key)?.listedValues ?? []);
    const found = offered.length > 0 ? offered : open.length > 0 ? own : [];
    for (const value of found) values.add(value);
  }
  return values;
}
