import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { LIVE_KINDS } from "./live-kinds.ts";

interface ClusterRole {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

test("the ClusterRole of docs/live.md grants to list the kinds that are read, and nothing else", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/live.md"), "utf8");
  const role = parse(text.match(/```yaml\n(apiVersion: rbac[\s\S]*?)```/)![1]!) as ClusterRole;
  const granted = role.rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
  expect(granted.sort()).toEqual(LIVE_KINDS.map(({ kind: { group, resource } }) => `list ${group}/${resource}`).sort());
});
