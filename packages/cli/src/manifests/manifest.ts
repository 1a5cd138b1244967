/** One object of the input, and where each of its fields stands in the file. */
import type { KubeObject } from "@joinery/api";
import type { FieldPath } from "./field-path.ts";

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

/** A KubeObject as it was read, before anybody checked it. */
export type RawObject = KubeObject & { readonly [field: string]: unknown };

/** One value of a source (a document, or an item of a List). */
export interface Document {
  readonly value: unknown;
  /** Position of a field's key (or of a list's item); of the nearest field around it where the path leads nowhere. */
  locate(path: FieldPath): Position;
}

export interface Manifest {
  readonly object: RawObject;
  /** The file; for an object of a cluster `cluster:Kind/namespace/name`. */
  readonly file: string;
  /** undefined for an object of a cluster, which has no lines. */
  locate(path: FieldPath): Position | undefined;
}

/** `pool.yaml:12`, or what the file is called where it has no lines. */
export function placeText({ file, locate }: Manifest, path: FieldPath): string {
  const position = locate(path);
  return position === undefined ? file : `${file}:${position.line}`;
}

export function objectTitle(object: KubeObject): string {
  const name = object.metadata?.name ?? object.metadata?.generateName;
  return typeof name === "string" && name !== "" ? `${object.kind}/${name}` : String(object.kind);
}
