/** Server-side tables (`as=Table`): what `kubectl get` prints. */
import { type ApiObject, isObject, type Json, type JsonObject } from "../objects/json.ts";
import type { Resource, TablePrinter } from "../registry/resource.ts";
import type { Call } from "../verbs/backend.ts";
import type { WatchValue } from "../verbs/watch.ts";
import { age } from "./age.ts";

export function isTable(accept: string | undefined): boolean {
  return accept?.includes("as=Table") === true;
}

const plainPrinter: TablePrinter = {
  columns: [
    { name: "Name", type: "string", format: "name", priority: 0 },
    { name: "Age", type: "date", priority: 0 },
  ],
  cells: ({ metadata }, nowMs) => [String(metadata.name ?? ""), age(metadata.creationTimestamp, nowMs)],
};

/** Objects that are no API objects of the resource (a Status) stay as they are. */
export function tableOf(
  objects: readonly JsonObject[],
  metadata: JsonObject,
  resource: Resource,
  nowMs: number,
  includeObject?: string,
): JsonObject {
  if (objects.length === 1 && objects[0]!.kind === "Status") return objects[0]!;
  const printer = resource.printer ?? plainPrinter;
  const own = objects.length === 1 && metadata.resourceVersion === undefined ? resourceVersionOf(objects[0]!) : metadata;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: own,
    columnDefinitions: printer.columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? "",
      description: column.description ?? "",
      priority: column.priority,
    })),
    rows: objects.map((object) => rowOf(object as ApiObject, printer, nowMs, includeObject)),
  };
}

function resourceVersionOf(object: JsonObject): JsonObject {
  const version = isObject(object.metadata) ? object.metadata.resourceVersion : undefined;
  return version === undefined ? {} : { resourceVersion: version };
}

function rowOf(object: ApiObject, printer: TablePrinter, nowMs: number, includeObject = "Metadata"): JsonObject {
  const row: JsonObject = { cells: printer.cells(object, nowMs) as Json[] };
  if (includeObject === "Object") row.object = object;
  if (includeObject === "Metadata") row.object = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
  return row;
}

/** A watch whose objects are tables of one row; only the first names the columns. */
export async function* tableOfWatch(values: AsyncIterable<WatchValue>, call: Call, nowMs: () => number): AsyncGenerator<WatchValue> {
  let isFirst = true;
  for await (const { type, object } of values) {
    if (type === "ERROR") {
      yield { type, object };
      continue;
    }
    const table = tableOf(type === "BOOKMARK" ? [] : [object], resourceVersionOf(object), call.resource, nowMs(), call.query.includeObject);
    if (!isFirst) table.columnDefinitions = null;
    isFirst = false;
    yield { type, object: table };
  }
}
