/** Reads JSON of unknown shape: every wrong value is told with its path, and a harmless stand-in goes on. */
import { isObject, type JsonObject } from "@joinery/api";
import type { CatalogueFault } from "./parse-catalogue.ts";

/** The stand-ins are never used: a catalogue with a fault is thrown away as a whole. */
export class JsonReader {
  readonly #report: (fault: CatalogueFault) => void;

  constructor(report: (fault: CatalogueFault) => void) {
    this.#report = report;
  }

  fault(code: CatalogueFault["code"], path: string, message: string): void {
    this.#report({ code, path, message });
  }

  *objects(value: unknown, path: string): Iterable<readonly [JsonObject, string]> {
    if (!Array.isArray(value)) return this.#wrong(value, path, "a list");
    for (const [index, item] of value.entries()) {
      if (isObject(item)) yield [item, `${path}[${index}]`];
      else this.#wrong(item, `${path}[${index}]`, "an object");
    }
  }

  map<T>(value: unknown, path: string, read: (value: unknown, path: string, key: string) => T): Readonly<Record<string, T>> {
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item, memberPath(path, key), key)]));
    this.#wrong(value, path, "an object");
    return {};
  }

  optional<T>(item: JsonObject, field: string, path: string, read: (value: unknown, path: string) => T): T | undefined {
    const value = item[field];
    return value === undefined || value === null ? undefined : read(value, memberPath(path, field));
  }

  text(value: unknown, path: string): string {
    if (typeof value === "string" && value !== "") return value;
    this.#wrong(value, path, "a text");
    return "";
  }

  texts(value: unknown, path: string): readonly string[] {
    if (Array.isArray(value) && value.length > 0) return value.map((item, index) => this.text(item, `${path}[${index}]`));
    this.#wrong(value, path, "a list of texts");
    return [];
  }

  flag(value: unknown, path: string): boolean {
    if (typeof value !== "boolean") this.#wrong(value, path, "true or false");
    return value === true;
  }

  wholeNumber(value: unknown, path: string): number {
    if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
    this.#wrong(value, path, "a whole number from 0");
    return 0;
  }

  amount(value: unknown, path: string): number {
    if (typeof value === "number" && Number.isFinite(value)) {
      if (value < 0) this.fault("out-of-range", path, `is ${value}; a price is not below 0`);
      return value;
    }
    this.#wrong(value, path, "a number");
    return 0;
  }

  onlyFields(item: JsonObject, path: string, known: readonly string[]): void {
    for (const field of Object.keys(item)) {
      if (!known.includes(field)) this.fault("unknown-field", memberPath(path, field), `is not known here; known are ${known.join(", ")}`);
    }
  }

  #wrong(value: unknown, path: string, wanted: string): void {
    if (value === undefined) this.fault("missing", path, `needs ${wanted}`);
    else this.fault("wrong-type", path, `${path === "" ? "the catalogue " : ""}must be ${wanted}, is ${describe(value)}`);
  }
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
