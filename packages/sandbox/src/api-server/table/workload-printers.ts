/** The lines of workloads: how many of how many. */
import { type ApiObject, type Json, numberAt, objectAt, objectsAt, textAt, valueAt } from "../objects/json.ts";
import { labelSelectorText } from "../objects/selectors.ts";
import type { TablePrinter } from "../registry/resource.ts";
import { age, span } from "./age.ts";
import { none, orNone, printer } from "./columns.ts";

const created = (object: ApiObject, nowMs: number) => age(object.metadata.creationTimestamp, nowMs);
const count = (object: ApiObject, ...path: string[]) => numberAt(object, ...path) ?? 0;

function templateCells(object: ApiObject, ...path: string[]): [containers: string, images: string] {
  const containers = objectsAt(object, ...path, "spec", "containers");
  const joined = (key: string) => containers.map((container) => textAt(container, key) ?? "").join(",");
  return [joined("name"), joined("image")];
}

function selectorCell(selector: Json | undefined): string {
  return orNone(labelSelectorText(selector));
}

/** Of the `scale` subresource, whatever it scales. */
export const scalePrinter: TablePrinter = printer(["Desired:integer", "Available:integer", "Age"], (object, now) => [
  count(object, "spec", "replicas"),
  count(object, "status", "replicas"),
  created(object, now),
]);

export const workloadPrinters: Readonly<Record<string, TablePrinter>> = {
  Deployment: printer(["Ready", "Up-to-date", "Available", "Age", "+Containers", "+Images", "+Selector"], (object, now) => [
    `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`,
    count(object, "status", "updatedReplicas"),
    count(object, "status", "availableReplicas"),
    created(object, now),
    ...templateCells(object, "spec", "template"),
    selectorCell(valueAt(object, "spec", "selector")),
  ]),
  ReplicaSet: printer(
    ["Desired:integer", "Current:integer", "Ready:integer", "Age", "+Containers", "+Images", "+Selector"],
    (object, now) => [
      count(object, "spec", "replicas"),
      count(object, "status", "replicas"),
      count(object, "status", "readyReplicas"),
      created(object, now),
      ...templateCells(object, "spec", "template"),
      selectorCell(valueAt(object, "spec", "selector")),
    ],
  ),
  ReplicationController: printer(
    ["Desired:integer", "Current:integer", "Ready:integer", "Age", "+Containers", "+Images", "+Selector"],
    (object, now) => [
      count(object, "spec", "replicas"),
      count(object, "status", "replicas"),
      count(object, "status", "readyReplicas"),
      created(object, now),
      ...templateCells(object, "spec", "template"),
      mapCell(objectAt(object, "spec", "selector")),
    ],
  ),
  StatefulSet: printer(["Ready", "Age", "+Containers", "+Images"], (object, now) => [
    `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`,
    created(object, now),
    ...templateCells(object, "spec", "template"),
  ]),
  DaemonSet: printer(
    [
      "Desired:integer",
      "Current:integer",
      "Ready:integer",
      "Up-to-date:integer",
      "Available:integer",
      "Node Selector",
      "Age",
      "+Containers",
      "+Images",
      "+Selector",
    ],
    (object, now) => [
      count(object, "status", "desiredNumberScheduled"),
      count(object, "status", "currentNumberScheduled"),
      count(object, "status", "numberReady"),
      count(object, "status", "updatedNumberScheduled"),
      count(object, "status", "numberAvailable"),
      mapCell(objectAt(object, "spec", "template", "spec", "nodeSelector")),
      created(object, now),
      ...templateCells(object, "spec", "template"),
      selectorCell(valueAt(object, "spec", "selector")),
    ],
  ),
  Job: printer(["Status", "Completions", "Duration", "Age", "+Containers", "+Images", "+Selector"], (object, now) => [
    jobStatus(object),
    jobCompletions(object),
    jobDuration(object, now),
    created(object, now),
    ...templateCells(object, "spec", "template"),
    selectorCell(valueAt(object, "spec", "selector")),
  ]),
  CronJob: printer(
    ["Schedule", "Timezone", "Suspend:boolean", "Active:integer", "Last Schedule", "Age", "+Containers", "+Images", "+Selector"],
    (object, now) => {
      const last = textAt(object, "status", "lastScheduleTime");
      return [
        textAt(object, "spec", "schedule") ?? "",
        orNone(textAt(object, "spec", "timeZone")),
        valueAt(object, "spec", "suspend") === true,
        objectsAt(object, "status", "active").length,
        last === undefined ? none : age(last, now),
        created(object, now),
        ...templateCells(object, "spec", "jobTemplate", "spec", "template"),
        selectorCell(valueAt(object, "spec", "jobTemplate", "spec", "selector")),
      ];
    },
  ),
  ControllerRevision: printer(["Controller", "Revision", "Age"], (object, now) => {
    const owner = objectsAt(object.metadata, "ownerReferences").find((reference) => reference.controller === true);
    return [
      owner === undefined ? none : `${textAt(owner, "kind")?.toLowerCase()}.${groupOf(textAt(owner, "apiVersion"))}/${owner.name}`,
      String(count(object, "revision")),
      created(object, now),
    ];
  }),
  PodTemplate: printer(["Containers", "Images", "Pod Labels"], (object) => [
    ...templateCells(object, "template"),
    mapCell(objectAt(object, "template", "metadata", "labels")),
  ]),
};

function groupOf(apiVersion: string | undefined): string {
  return apiVersion?.split("/")[0] ?? "";
}

export function mapCell(map: { readonly [key: string]: Json } | undefined): string {
  const pairs = Object.entries(map ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? none : pairs.sort().join(",");
}

function jobStatus(job: ApiObject): string {
  const conditions = objectsAt(job, "status", "conditions").filter((condition) => condition.status === "True");
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  if (has("Suspended")) return "Suspended";
  if (has("FailureTarget")) return "FailureTarget";
  return has("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function jobCompletions(job: ApiObject): string {
  const succeeded = count(job, "status", "succeeded");
  const completions = numberAt(job, "spec", "completions");
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(job, "spec", "parallelism") ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, nowMs: number): string {
  const start = Date.parse(textAt(job, "status", "startTime") ?? "");
  if (Number.isNaN(start)) return "";
  const end = Date.parse(textAt(job, "status", "completionTime") ?? "");
  return Number.isNaN(end) ? span(nowMs - start) : span(end - start);
}
