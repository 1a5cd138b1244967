/** One resource as the server serves it: its address, names, subresources and the rules of its kind. */
import { type ApiObject, type JsonObject, textAt } from "../objects/json.ts";
import type { Shape } from "../schema/shape.ts";
import type { FieldFault } from "../wire/status.ts";

/** What rules may know beyond the object: time, and other objects. */
export interface RuleContext {
  nowText(): string;
  /** An object of another kind, e.g. `("scheduling.k8s.io/priorityclasses", "high")`. */
  find(resourceId: string, key: string): ApiObject | undefined;
  values(resourceId: string): Iterable<ApiObject>;
}

/** Where `scale` finds its numbers. Paths of member names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** To a LabelSelector (built-in kinds) or to its text (custom resources). */
  readonly selector?: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
}

export type Cell = string | number | boolean | null;

export interface TablePrinter {
  readonly columns: readonly Column[];
  cells(object: ApiObject, nowMs: number): Cell[];
}

/** The rules of a kind. Drafts are the server's own and may be written to. */
export interface Strategy {
  /** Fills what the kind defaults. Called for creates and updates. */
  defaults?(draft: ApiObject, context: RuleContext): void;
  /** What admission adds when the object is created. Throws `ApiFailure` to refuse. */
  admit?(draft: ApiObject, context: RuleContext): void;
  /** What the server itself decides on an update, e.g. generation. */
  beforeUpdate?(draft: ApiObject, old: ApiObject): void;
  validate?(object: ApiObject, old: ApiObject | undefined): FieldFault[];
  /** Rewrites a new object once it is known to be right, where it is kept otherwise than it was sent. */
  settle?(draft: ApiObject): void;
  /** What whoever creates one is told, beyond that it was done. */
  readonly warnings?: readonly string[];
  /** Fields beyond `metadata.*` that a field selector may name. */
  selectableFields?(object: ApiObject): Readonly<Record<string, string>>;
}

export interface Resource {
  /** Of the collection in the store, e.g. `apps/deployments`, `pods`. */
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  /** Plural. */
  readonly resource: string;
  readonly singular: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: ReadonlySet<string>;
  /** Whether `metadata.generation` counts the changes of everything but metadata and status. */
  readonly hasGeneration: boolean;
  readonly isCustom: boolean;
  readonly strategy: Strategy;
  readonly shape: Shape;
  readonly scale?: ScalePaths;
  readonly printer?: TablePrinter;
  /** Of a resource that is stored in another form than it is served in. */
  readonly view?: View;
  /** Of a custom resource: prunes and defaults a draft in place and says what was unknown and wrong. */
  readonly custom?: CustomRules;
  /** Of a custom resource: its schema, for OpenAPI. */
  readonly openApiSchema?: JsonObject;
}

/** A second way to look at objects that are stored as another version of the same kind. */
export interface View {
  /** As in `apiVersion`. */
  readonly storedVersion: string;
  /** Copies; what they hold is shared. */
  toServed(object: ApiObject): ApiObject;
  toStored(object: ApiObject): ApiObject;
  /** What this version asks of objects beyond the rules of the stored one; both are in the stored form. */
  validate(stored: ApiObject, old: ApiObject | undefined): FieldFault[];
}

export interface CustomRules {
  /** A pruned copy; `unknown` gets the paths that were dropped. */
  prune(body: JsonObject, unknown: string[]): JsonObject;
  /** A copy with the schema's defaults. */
  withDefaults(object: JsonObject): JsonObject;
  validate(object: JsonObject, old: JsonObject | undefined): FieldFault[];
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

export function resourceId(group: string, resource: string): string {
  return group === "" ? resource : `${group}/${resource}`;
}

/** Where an object is, as a request path. */
export function pathOf({ group, version, resource }: Resource, { metadata }: { readonly metadata: JsonObject }): string {
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const namespace = textAt(metadata, "namespace") ?? "";
  return `${base}${namespace === "" ? "" : `/namespaces/${namespace}`}/${resource}/${textAt(metadata, "name") ?? ""}`;
}
