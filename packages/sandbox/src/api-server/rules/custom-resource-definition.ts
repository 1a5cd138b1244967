/** Defaults and rules of CustomResourceDefinitions, and the conditions that say that one is served. */
import { type CustomResourceDefinition, checkDefinition } from "@joinery/api";
import { type ApiObject, ensureObject, objectAt, objectsAt, setDefault, textAt } from "../objects/json.ts";
import type { Strategy } from "../registry/resource.ts";
import { issueFault } from "../wire/issue-fault.ts";
import type { FieldFault } from "../wire/status.ts";

/** Keeps a definition that is being deleted until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export const customResourceDefinitions: Strategy = {
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "conversion", { strategy: "None" });
    const names = ensureObject(spec, "names");
    const kind = textAt(names, "kind");
    if (kind === undefined) return;
    setDefault(names, "singular", kind.toLowerCase());
    setDefault(names, "listKind", `${kind}List`);
    for (const version of objectsAt(spec, "versions")) {
      for (const column of objectsAt(version, "additionalPrinterColumns")) if (column.priority === 0) delete column.priority;
    }
  },
  admit: (draft, context) => {
    draft.status = establishedStatus(draft, context.nowText());
  },
  validate: (object, old) => faultsOf(object, old),
};

/** The sandbox serves a definition with the write that brings it. */
function establishedStatus(definition: ApiObject, now: string): ApiObject["metadata"] {
  const spec = objectAt(definition, "spec") ?? {};
  const storage = objectsAt(spec, "versions").find((version) => version.storage === true);
  return {
    acceptedNames: objectAt(spec, "names") ?? {},
    conditions: [
      { type: "NamesAccepted", status: "True", lastTransitionTime: now, reason: "NoConflicts", message: "no conflicts found" },
      {
        type: "Established",
        status: "True",
        lastTransitionTime: now,
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted",
      },
    ],
    storedVersions: [textAt(storage, "name") ?? ""],
  };
}

function faultsOf(definition: ApiObject, old: ApiObject | undefined): FieldFault[] {
  const faults = checkDefinition(definition as unknown as CustomResourceDefinition).map(issueFault);
  for (const key of ["scope", "group"] as const) {
    const [before, after] = [textAt(old, "spec", key), textAt(definition, "spec", key)];
    if (before !== undefined && before !== after)
      faults.push({ kind: "invalid", field: `spec.${key}`, value: after ?? "", detail: "field is immutable" });
  }
  return faults;
}
