/** The store against a model that simply keeps every past state. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ApiObject } from "../objects/json.ts";
import { keyOf, Store } from "./store.ts";

const aMap = (namespace: string, name: string, value: number): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name },
  data: { value },
});

const change = fc.record({
  namespace: fc.constantFrom("x", "y"),
  name: fc.constantFrom("a", "b", "c"),
  value: fc.nat(3),
  isRemoval: fc.boolean(),
});

test("every version within the window can be listed as it was, and replayed from", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.constantFrom(undefined, "x"), (changes, namespace) => {
      const store = new Store(8);
      const collection = store.collection("configmaps");
      const past = new Map<number, string>();
      const shown = (items: readonly ApiObject[] | undefined) => JSON.stringify(items);
      past.set(store.version, shown(collection.list(namespace)));
      for (const { namespace: home, name, value, isRemoval } of changes) {
        if (isRemoval) store.remove("configmaps", keyOf(home, name));
        else store.put("configmaps", keyOf(home, name), aMap(home, name, value));
        past.set(store.version, shown(collection.list(namespace)));
      }
      for (const [version, items] of past) {
        const then = collection.listAt(version, namespace);
        if (version < collection.oldestVersion) expect(then).toBeUndefined();
        else expect(shown(then)).toBe(items);
        expect(collection.since(version)?.map((event) => event.version)).toEqual(
          version < collection.oldestVersion ? undefined : [...past.keys()].filter((later) => later > version),
        );
      }
    }),
  );
});

test("the window is bounded, whatever happens", () => {
  const store = new Store(8);
  for (let round = 0; round < 1000; round++) store.put("configmaps", "x/a", aMap("x", "a", round));
  const { oldestVersion } = store.collection("configmaps");
  expect(store.version - oldestVersion).toBeLessThanOrEqual(16);
  expect(store.version - oldestVersion).toBeGreaterThanOrEqual(8);
});
