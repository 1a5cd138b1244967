/** `events.k8s.io/v1`: the same events as in `v1`, under newer names. Stored as `v1`, translated on the way in and out. */
import { type ApiObject, equalJson, type JsonObject, textAt } from "../objects/json.ts";
import { events } from "../rules/cluster.ts";
import type { FieldFault } from "../wire/status.ts";
import type { Strategy, View } from "./resource.ts";

/** Names in `v1` and in `events.k8s.io/v1`, where they differ. */
const names = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
] as const;
const toNewer = new Map<string, string>(names);
const toStored = new Map<string, string>(names.map(([stored, newer]) => [newer, stored]));

export const eventView: View = {
  storedVersion: "v1",
  toServed: (object) => renamed(object, toNewer, "events.k8s.io/v1"),
  toStored: (object) => renamed(object, toStored, "v1"),
  validate: (stored, old) => {
    if (old !== undefined) return changeFaults(stored, old);
    const faults: FieldFault[] = [];
    if (textAt(stored, "eventTime") === undefined) faults.push({ kind: "required", field: "eventTime" });
    const type = textAt(stored, "type") ?? "";
    if (type !== "Normal" && type !== "Warning")
      faults.push({ kind: "invalid", field: "type", value: type, detail: `has invalid value: ${type}` });
    return faults;
  },
};

const frozen = ["involvedObject", "related", "reason", "message", "action", "type", "eventTime", "reportingComponent", "reportingInstance"];

/** Of an event that is written only its series may grow. */
function changeFaults(stored: ApiObject, old: ApiObject): FieldFault[] {
  return frozen
    .filter((name) => !equalJson(stored[name] ?? "", old[name] ?? ""))
    .map((field) => ({ kind: "invalid", field, value: stored[field] ?? "", detail: "field is immutable" }));
}

/** Only questions: what is written goes by the rules of `v1`. */
export const viewedEvents: Strategy = {
  selectableFields: (object) => {
    const fields = events.selectableFields?.(object) ?? {};
    return Object.fromEntries(
      Object.entries(fields)
        .filter(([name]) => name !== "source")
        .map(([name, value]) => {
          const [head = "", ...rest] = name.split(".");
          return [[toNewer.get(head) ?? head, ...rest].join("."), value];
        }),
    );
  },
};

function renamed(object: ApiObject, by: ReadonlyMap<string, string>, apiVersion: string): ApiObject {
  const entries = Object.entries(object as JsonObject).map(([name, value]) => [by.get(name) ?? name, value]);
  return { ...(Object.fromEntries(entries) as ApiObject), apiVersion };
}
