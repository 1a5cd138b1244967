/** What is wrong with an input, for people: file, line, column, object, field, fault and remedy in one line. */
import { type FieldPath, formatFieldPath } from "./field-path.ts";
import { type Manifest, objectTitle } from "./manifest.ts";
import { isTemplate, RENDER_FIRST } from "./template-text.ts";

export interface InputProblem {
  readonly severity: "error" | "warning";
  readonly file: string;
  /** From 1; absent when the whole file is meant. */
  readonly line?: number;
  readonly column?: number;
  /** `Kind/name`; absent where the text is not even an object. */
  readonly object?: string;
  /** As `formatFieldPath` writes it; "" for the object itself. */
  readonly path: string;
  /** What is wrong; what would be right. */
  readonly message: string;
}

/** `pool.yaml:12:9: NodePool/default: spec.weight: must be at most 100; got 101` */
export function formatProblem(problem: InputProblem): string {
  const { file, line, column, object, path, message } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return [place, object, path === "" ? undefined : path, message].filter((part) => part !== undefined).join(": ");
}

export function problemAt(
  manifest: Manifest,
  path: FieldPath,
  message: string,
  severity: InputProblem["severity"] = "error",
): InputProblem {
  const value = valueAt(manifest.object, path);
  return {
    severity,
    file: manifest.file,
    ...manifest.locate(path),
    object: objectTitle(manifest.object),
    path: formatFieldPath(path),
    message: typeof value === "string" && isTemplate(value) ? `${message}; ${RENDER_FIRST}` : message,
  };
}

export function valueAt(object: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, part) => (value as Readonly<Record<string | number, unknown>> | null | undefined)?.[part], object);
}
