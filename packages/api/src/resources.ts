/**
 * Amounts of resources as numbers: quantities become integers at the edge (law 6) and texts again when they leave.
 * The arithmetic is that of rules S-49 and S-50.
 */
import type { ResourceTexts } from "./kubernetes/meta.ts";
import { divideUp, formatQuantity, type Quantity, quantityOf } from "./quantity.ts";

/**
 * Resource name → amount. `cpu` is in millicores; everything else in its own unit (bytes for memory and storage, counts for the
 * rest). Amounts are exact integers below 2^53; what lies beyond is `Infinity`, as a limit "no limit in practice".
 * Objects of this type are shared and never written to.
 */
export type Resources = Readonly<Record<string, number>>;

const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const BYTE_RESOURCE = /^(memory|ephemeral-storage|storage|hugepages-.*)$/;

/** Reads amounts that admission has accepted; parts of a unit are rounded up. Throws on a text that is no quantity. */
export function parseResources(texts: ResourceTexts | undefined): Resources {
  const resources: Record<string, number> = {};
  for (const [name, text] of Object.entries(texts ?? {})) resources[name] = amountOf(name, quantityOf(text));
  return resources;
}

/** Writes amounts as canonical quantities, names in byte order: `{ cpu: 1500 }` → `{ cpu: "1500m" }`. */
export function formatResources(resources: Resources): Record<string, string> {
  const names = Object.keys(resources).sort();
  return Object.fromEntries(names.map((name) => [name, formatAmount(name, resources[name]!)]));
}

/** One amount in the unit of `Resources` → canonical quantity. */
export function formatAmount(name: string, amount: number): string {
  const unit = name === "cpu" ? 1_000_000n : 1_000_000_000n;
  const nanos = Number.isFinite(amount) ? BigInt(Math.ceil(amount)) * unit : BigInt(Math.sign(amount)) * (2n ** 63n - 1n) * 1_000_000_000n;
  return formatQuantity({ nanos, format: BYTE_RESOURCE.test(name) ? "BinarySI" : "DecimalSI" });
}

/** Per-resource sum over the union of names (S-50). */
export function sumResources(...terms: readonly (Resources | undefined)[]): Resources {
  const sum: Record<string, number> = {};
  for (const term of terms) for (const name in term) sum[name] = (sum[name] ?? 0) + term[name]!;
  return sum;
}

/** Exactly the names of `from`; may go below zero (S-50). */
export function subtractResources(from: Resources, by: Resources): Resources {
  const rest: Record<string, number> = {};
  for (const name in from) rest[name] = from[name]! === Number.POSITIVE_INFINITY ? from[name]! : from[name]! - (by[name] ?? 0);
  return rest;
}

/** Per-resource maximum over the union of names (S-50). */
export function maxResources(...terms: readonly (Resources | undefined)[]): Resources {
  const most: Record<string, number> = {};
  for (const term of terms) for (const name in term) most[name] = Math.max(most[name] ?? Number.NEGATIVE_INFINITY, term[name]!);
  return most;
}

/** Per-resource minimum over the names that both have (S-50). */
export function minResources(one: Resources, other: Resources): Resources {
  const least: Record<string, number> = {};
  for (const name in one) if (name in other) least[name] = Math.min(one[name]!, other[name]!);
  return least;
}

/** S-49: nothing in `total` is negative, and every request is there. */
export function fits(requests: Resources, total: Resources): boolean {
  for (const name in total) if (total[name]! < 0) return false;
  for (const name in requests) if (requests[name]! > (total[name] ?? 0)) return false;
  return true;
}

function amountOf(name: string, { nanos }: Quantity): number {
  const amount = divideUp(nanos, name === "cpu" ? 1_000_000n : 1_000_000_000n);
  if (amount > EXACT_MAX) return Number.POSITIVE_INFINITY;
  return amount < -EXACT_MAX ? Number.NEGATIVE_INFINITY : Number(amount);
}
