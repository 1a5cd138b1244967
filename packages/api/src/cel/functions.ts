/** The CEL functions that a Kubernetes API server adds to the language, as far as the engine lacks or misreads them. */
import type { Environment, Optional } from "@marcbachmann/cel-js";
import { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { parseQuantity, type Quantity } from "../quantity.ts";
import { compilePattern } from "../schema/regular-expression.ts";
import { formatText } from "./format-text.ts";
import { registerNetworkFunctions } from "./network-functions.ts";
import { registerTwoVariableMacros } from "./two-variable-macros.ts";

/** A quantity inside a rule. */
class QuantityValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const NANOS = 1_000_000_000n;
const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;

export function registerFunctions(env: Environment): void {
  registerConversions(env);
  registerTexts(env);
  registerLists(env);
  registerSets(env);
  registerQuantities(env);
  registerNetworkFunctions(env);
  registerTwoVariableMacros(env);
}

function registerConversions(env: Environment): void {
  env.registerFunction("strictInt(dyn): int", strictInt);
  env.registerFunction("strictUint(dyn): uint", (value: unknown) => new UnsignedInt(strictInt(value)));
  for (const type of ["Duration", "Timestamp"]) {
    env.registerFunction(`${type.toLowerCase()}(google.protobuf.${type}): google.protobuf.${type}`, (value: unknown) => value);
  }
  env.registerFunction("optional.unwrapped(): dyn", (optional: Optional) => optional.value());
}

function strictInt(value: unknown): bigint {
  const number = integerOf(value);
  if (number < INT_MIN || number > INT_MAX) throw new RangeError("type conversion error from 'string' to 'int'");
  return number;
}

function integerOf(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "string" && /^[+-]?\d+$/.test(value)) return BigInt(value.replace(/^\+/, ""));
  if (typeof value === "number" && Number.isFinite(value)) return BigInt(Math.trunc(value));
  if (value instanceof UnsignedInt) return value.value;
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
  throw new TypeError(`type conversion error from '${typeof value}' to 'int'`);
}

function registerTexts(env: Environment): void {
  const find = (text: string, pattern: string) => compilePattern(pattern).exec(text)?.[0] ?? "";
  const findAll = (text: string, pattern: string, limit = -1n) => {
    const expression = compilePattern(pattern);
    const found = [...text.matchAll(new RegExp(expression.source, `${expression.flags}g`))].map(([match]) => match);
    return limit < 0n ? found : found.slice(0, Number(limit));
  };
  const matches = (text: string, pattern: string) => compilePattern(pattern).test(text);
  env.registerFunction("string.matchesPattern(string): bool", matches);
  env.registerFunction("matchesPattern(string, string): bool", matches);
  env.registerFunction("string.find(string): string", find);
  env.registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) => findAll(text, pattern));
  env.registerFunction("string.findAll(string, int): list<string>", findAll);
  env.registerFunction("string.charAt(int): string", (text: string, at: bigint) => {
    const characters = [...text];
    if (at < 0n || at > BigInt(characters.length)) throw new RangeError(`index out of range: ${at}`);
    return characters[Number(at)] ?? "";
  });
  env.registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  env.registerFunction("string.replace(string, string, int): string", replaceSome);
  env.registerFunction("string.format(list): string", formatText);
  env.registerFunction("string.reverse(): string", (text: string) => [...text].reverse().join(""));
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  let left = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return text.replaceAll(from, (match) => (left-- > 0 ? to : match));
}

function registerLists(env: Environment): void {
  const number = (value: unknown) => (typeof value === "bigint" || typeof value === "number" ? value : 0n);
  env.registerFunction("list.isSorted(): bool", (list: readonly never[]) => list.every((item, at) => at === 0 || list[at - 1]! <= item));
  env.registerFunction("list.sum(): dyn", (list: readonly unknown[]) =>
    list.every((item) => typeof item === "number") && list.length > 0
      ? list.reduce<number>((sum, item) => sum + Number(item), 0)
      : list.reduce<bigint>((sum, item) => sum + BigInt(number(item)), 0n),
  );
  env.registerFunction("list.min(): dyn", (list: readonly never[]) => extreme(list, (one, other) => one < other));
  env.registerFunction("list.max(): dyn", (list: readonly never[]) => extreme(list, (one, other) => one > other));
  env.registerFunction("list.indexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
    BigInt(list.findIndex((one) => isEqual(one, item))),
  );
  env.registerFunction("list.lastIndexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
    BigInt(list.findLastIndex((one) => isEqual(one, item))),
  );
}

function extreme<Item>(list: readonly Item[], isBetter: (one: Item, other: Item) => boolean): Item {
  if (list.length === 0) throw new RangeError("min and max need a list that is not empty");
  return list.reduce((best, item) => (isBetter(item, best) ? item : best));
}

const isNumber = (value: unknown): value is bigint | number => typeof value === "bigint" || typeof value === "number";

/** Equality of two CEL values; int and double are compared by value. */
function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (isNumber(one) && isNumber(other)) return !(one < other) && !(one > other);
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isEqual(one[name as never], other[name as never]));
}

class Sets {}

function registerSets(env: Environment): void {
  const has = (list: readonly unknown[], item: unknown) => list.some((one) => isEqual(one, item));
  const contains = (list: readonly unknown[], sub: readonly unknown[]) => sub.every((item) => has(list, item));
  env.registerType("Sets", Sets);
  env.registerConstant("sets", "Sets", new Sets());
  env.registerFunction("Sets.contains(list, list): bool", (_: Sets, list: readonly unknown[], sub: readonly unknown[]) =>
    contains(list, sub),
  );
  env.registerFunction(
    "Sets.equivalent(list, list): bool",
    (_: Sets, one: readonly unknown[], other: readonly unknown[]) => contains(one, other) && contains(other, one),
  );
  env.registerFunction("Sets.intersects(list, list): bool", (_: Sets, one: readonly unknown[], other: readonly unknown[]) =>
    one.some((item) => has(other, item)),
  );
}

function registerQuantities(env: Environment): void {
  const parse = (text: string) => {
    const quantity = parseQuantity(text);
    if (quantity === undefined) throw new TypeError(`quantity ${JSON.stringify(text)} cannot be parsed`);
    return new QuantityValue(quantity);
  };
  const nanosOf = (value: QuantityValue | bigint) => (typeof value === "bigint" ? value * NANOS : value.quantity.nanos);
  const made = (nanos: bigint) => new QuantityValue({ nanos, format: "DecimalSI" });
  const compare = (one: QuantityValue, other: QuantityValue) =>
    nanosOf(one) < nanosOf(other) ? -1n : nanosOf(one) > nanosOf(other) ? 1n : 0n;
  env.registerType("Quantity", QuantityValue);
  env.registerFunction("quantity(string): Quantity", parse);
  env.registerFunction("isQuantity(string): bool", (text: string) => parseQuantity(text) !== undefined);
  env.registerFunction("Quantity.compareTo(Quantity): int", compare);
  env.registerFunction("Quantity.isGreaterThan(Quantity): bool", (one: QuantityValue, other: QuantityValue) => compare(one, other) > 0n);
  env.registerFunction("Quantity.isLessThan(Quantity): bool", (one: QuantityValue, other: QuantityValue) => compare(one, other) < 0n);
  env.registerFunction("Quantity.sign(): int", (one: QuantityValue) => compare(one, made(0n)));
  env.registerFunction("Quantity.isInteger(): bool", (one: QuantityValue) => nanosOf(one) % NANOS === 0n);
  env.registerFunction("Quantity.asInteger(): int", (one: QuantityValue) => {
    if (nanosOf(one) % NANOS !== 0n) throw new RangeError("cannot convert value to integer");
    return nanosOf(one) / NANOS;
  });
  env.registerFunction("Quantity.asApproximateFloat(): double", (one: QuantityValue) => Number(nanosOf(one)) / Number(NANOS));
  for (const operand of ["Quantity", "int"]) {
    env.registerFunction(`Quantity.add(${operand}): Quantity`, (one: QuantityValue, other: QuantityValue | bigint) =>
      made(nanosOf(one) + nanosOf(other)),
    );
    env.registerFunction(`Quantity.sub(${operand}): Quantity`, (one: QuantityValue, other: QuantityValue | bigint) =>
      made(nanosOf(one) - nanosOf(other)),
    );
  }
  env.registerOperator("Quantity == Quantity", (one: QuantityValue, other: QuantityValue) => compare(one, other) === 0n);
}
