import type { Pod } from "@joinery/api";
import { shapeOf } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { createPodReader } from "./pod-record.ts";

const template = {
  labels: { app: "web" },
  ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "u", controller: true }],
};
const spec: Pod["spec"] = { containers: [{ name: "main", resources: { requests: { cpu: "100m" }, limits: { cpu: "1" } } }] };

/** Reads pods that the wire calls alike; `worked` counts how often a shape was worked out. */
function reader() {
  const seen = { worked: 0 };
  const read = createPodReader({
    shapeOf: (pod) => {
      seen.worked++;
      return shapeOf(pod);
    },
    intern: (text) => text,
    alikeOf: () => template,
  });
  return { seen, read };
}

function podNamed(name: string, change: Partial<Pod> = {}): Pod {
  return { metadata: { name, namespace: "shop", uid: name, ...template }, spec: { ...spec, nodeName: `node-of-${name}` }, ...change };
}

test("S-47, L-30: what pods have in common is worked out once, what is their own each time", () => {
  const { seen, read } = reader();
  const one = read(podNamed("one", { status: { phase: "Running", startTime: "2026-01-01T00:00:00Z" } }));
  const other = read(podNamed("other"));
  expect(seen.worked).toBe(1);
  expect(other.shape).toBe(one.shape);
  expect(other).toEqual({
    ...one,
    metadata: { ...one.metadata, name: "other", uid: "other" },
    nodeName: "node-of-other",
    phase: "Pending",
    startedAtMs: undefined,
  });
  expect(other).toMatchObject({ ownerPath: "apps/v1/ReplicaSet/web-1", owner: "other", limits: { cpu: 1000 } });
});

test("S-48: a pod whose resize cannot be done is not measured by the others", () => {
  const { read } = reader();
  const granted = { resources: { requests: { cpu: "400m" } }, allocatedResources: { cpu: "400m" } };
  const containerStatuses = [{ name: "main", ...granted }];
  const resized = read(podNamed("one", { status: { containerStatuses } as Pod["status"] }));
  const refused = read(
    podNamed("other", {
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "900m" } } }] },
      status: { containerStatuses, conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] } as Pod["status"],
    }),
  );
  expect([resized.shape.requests.cpu, refused.shape.requests.cpu]).toEqual([400, 400]);
});

test("S-22: claims of ephemeral volumes have the names of their pods", () => {
  const { read } = reader();
  const volumes = [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: {} } } }];
  const claims = ["one", "other"].map((name) => read(podNamed(name, { spec: { ...spec, volumes } as Pod["spec"] })).shape.claimNames);
  expect(claims).toEqual([["one-data"], ["other-data"]]);
});
