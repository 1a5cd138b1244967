/** A Deployment that is scaled in the middle of a rollout: figures observed on the controllers of Kubernetes 1.37. */
import { expect, test } from "vitest";
import { aDeployment } from "../world/builders.ts";
import { DESIRED_REPLICAS, MAX_REPLICAS, proportionalSteps } from "./rollout.ts";

const set = (name: string, revision: number, replicas: number) => ({
  metadata: {
    name,
    annotations: { "deployment.kubernetes.io/revision": String(revision), [DESIRED_REPLICAS]: "10", [MAX_REPLICAS]: "13" },
  },
  spec: { replicas, template: { spec: { containers: [] } } },
});

test.each([
  { what: "up: every revision by its share", replicas: 20, steps: { old: 15, new: 10 } },
  { what: "down: every revision by its share", replicas: 5, steps: { old: 4, new: 3 } },
  { what: "to nothing", replicas: 0, steps: { old: 0, new: 0 } },
  { what: "while paused too", replicas: 15, steps: { old: 12, new: 7 } },
])("scaling $what", ({ replicas, steps }) => {
  const taken = proportionalSteps(aDeployment({ replicas }), [set("old", 1, 8), set("new", 2, 5)]) ?? [];
  expect(Object.fromEntries(taken.map((step) => [step.set.metadata?.name, step.replicas]))).toEqual(steps);
});

test("nothing to share out when the figures are those of before, or when only one revision has pods", () => {
  expect(proportionalSteps(aDeployment({ replicas: 10 }), [set("old", 1, 8), set("new", 2, 5)])).toBeUndefined();
  expect(proportionalSteps(aDeployment({ replicas: 20 }), [set("old", 1, 0), set("new", 2, 5)])).toBeUndefined();
});
