/** Input of `plan`, `explain` and `lint` → checked objects, or everything that is wrong with them. Nothing is half-taken. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "./built-in/shapes.ts";
import { checkManifest } from "./check-manifest.ts";
import { type Document, type Manifest, objectTitle, type Position, placeText, type RawObject } from "./manifest.ts";
import { type InputProblem, problemAt } from "./problem.ts";
import { readJson } from "./read-json.ts";
import { readSources, type Source } from "./read-sources.ts";
import { readYaml } from "./read-yaml.ts";
import { TextLines } from "./text-lines.ts";

export interface Loaded {
  /** Of kinds that Joinery reads, each object once. Meaningless when there are errors. */
  readonly manifests: readonly Manifest[];
  /** Kind → number of objects, for kinds that Joinery does not read. */
  readonly ignoredKinds: ReadonlyMap<string, number>;
  /** Kinds of which there are no objects but those that are here: a cluster has been asked for all. Absent for files. */
  readonly wholeKinds?: ReadonlySet<string>;
  /** False where the texts have nothing in them but comments; a List without items is something. */
  readonly hasDocuments: boolean;
  readonly errors: readonly InputProblem[];
  readonly warnings: readonly InputProblem[];
}

export async function loadManifests(names: readonly string[], readStdin: () => Promise<string>): Promise<Loaded> {
  const { sources, problems } = await readSources(names, readStdin);
  return collect(sources, problems);
}

function collect(sources: readonly Source[], found: readonly InputProblem[]): Loaded {
  const problems: InputProblem[] = [...found];
  const ignoredKinds = new Map<string, number>();
  const byKey = new Map<string, Manifest>();
  let hasDocuments = false;
  for (const source of sources) {
    const { documents, problems: faults } = readSource(source);
    problems.push(...faults);
    hasDocuments ||= documents.some(({ value }) => value !== null && value !== undefined);
    for (const manifest of documents.flatMap((document) => manifestsOf(document, source.file, problems))) {
      const verdict = checkManifest(manifest);
      if (verdict.kind === "ignored") ignoredKinds.set(manifest.object.kind!, (ignoredKinds.get(manifest.object.kind!) ?? 0) + 1);
      else {
        problems.push(...verdict.problems);
        const repeated = keepOnce(byKey, manifest);
        if (repeated !== undefined) problems.push(repeated);
      }
    }
  }
  return {
    manifests: [...byKey.values()],
    ignoredKinds,
    hasDocuments,
    errors: problems.filter(({ severity }) => severity === "error"),
    warnings: problems.filter(({ severity }) => severity === "warning"),
  };
}

type Fault = Pick<InputProblem, "message"> & Partial<Pick<InputProblem, "object" | "path">> & { readonly at: Position };

interface Reading {
  readonly documents: readonly Document[];
  readonly problems: readonly InputProblem[];
}

function readSource({ file, text }: Source): Reading {
  const lines = new TextLines(text);
  const problem = ({ at, object, path = "", message }: Fault): InputProblem => ({
    severity: "error",
    file,
    ...at,
    ...(object !== undefined && { object }),
    path,
    message,
  });
  if (/^\uFEFF?\s*[{[]/.test(text) || file.endsWith(".json")) {
    const json = readJson(text, lines);
    if (json.kind === "values") return { documents: json.documents, problems: json.repeatedKey ? [problem(json.repeatedKey)] : [] };
    if (file.endsWith(".json")) return { documents: [], problems: [problem(json)] };
  }
  const { documents, faults } = readYaml(text, lines);
  return { documents, problems: faults.map(problem) };
}

/** Takes a `List` apart. kubectl's typed lists (`PodList`) may leave kind and version out of their items. */
function manifestsOf(document: Document, file: string, problems: InputProblem[]): Manifest[] {
  const { value } = document;
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) {
    problems.push({
      severity: "error",
      file,
      ...document.locate([]),
      path: "",
      message: `is no object; want a Kubernetes object with apiVersion and kind${looksLikeTable(value) ? ", not kubectl's table: ask it for -o json" : ""}`,
    });
    return [];
  }
  const { kind, items } = value;
  if (typeof kind !== "string" || !kind.endsWith("List") || !Array.isArray(items)) {
    return [{ object: value as RawObject, file, locate: (path) => document.locate(path) }];
  }
  const itemKind = kind === "List" ? undefined : kind.slice(0, -"List".length);
  const list: Document = { value, locate: (path) => document.locate(path) };
  return items.flatMap((item: unknown, index) => {
    const named = itemKind !== undefined && isRecord(item) ? { apiVersion: value.apiVersion, kind: itemKind, ...item } : item;
    return manifestsOf({ value: named, locate: (path) => list.locate(["items", index, ...path]) }, file, problems);
  });
}

/** `NAME   READY …`: what kubectl prints unless it is asked for something else. */
function looksLikeTable(value: unknown): boolean {
  return typeof value === "string" && /^(NAME|NAMESPACE)\s/.test(value);
}

/** Equal copies are one object; the same name with other content is an error. */
function keepOnce(byKey: Map<string, Manifest>, manifest: Manifest): InputProblem | undefined {
  const { object } = manifest;
  const key = identityOf(object);
  if (key === undefined) {
    byKey.set(`#${byKey.size}`, manifest);
    return undefined;
  }
  const first = byKey.get(key);
  if (first === undefined) byKey.set(key, manifest);
  if (first === undefined || isDeepStrictEqual(first.object, object)) return undefined;
  return problemAt(
    manifest,
    [],
    `${objectTitle(object)} is given twice with different content, first at ${placeText(first, [])}; keep one`,
  );
}

/** What makes two objects the same one; undefined while an object has no name. */
export function identityOf({ apiVersion, kind, metadata }: RawObject): string | undefined {
  const name: unknown = metadata?.name;
  if (typeof name !== "string" || name === "") return undefined;
  return [apiVersion, kind, metadata?.namespace ?? "default", name].join(" ");
}
