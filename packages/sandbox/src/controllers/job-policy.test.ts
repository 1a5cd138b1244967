/** What a Job's own rules make of its pods: words observed on the job controller of Kubernetes 1.37. */
import type { Job, Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { aPod, aTemplate } from "../world/builders.ts";
import { failedIndexes, failureMatch, indexesOf, indexVerdict, successVerdict } from "./job-policy.ts";

const aJob = (spec: Partial<Job["spec"]>): Job => ({
  metadata: { name: "j", namespace: "default" },
  spec: { template: aTemplate({}), ...spec },
});

function ended(
  phase: "Succeeded" | "Failed",
  { index = 0, exitCode = 1, conditions = [] as { type: string; status: "True" | "False" }[] } = {},
): Pod {
  const pod = aPod({ name: `j-${index}`, annotations: { "batch.kubernetes.io/job-completion-index": String(index) } });
  const state = { terminated: { exitCode } };
  const containerStatuses = [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state }];
  return { ...pod, status: { phase, conditions, containerStatuses } };
}

test.each([
  { what: "an exit code in the list", onExitCodes: { operator: "In", values: [42] }, exitCode: 42, isMet: true },
  { what: "an exit code beside the list", onExitCodes: { operator: "NotIn", values: [42] }, exitCode: 1, isMet: true },
  { what: "success is no failure", onExitCodes: { operator: "NotIn", values: [42] }, exitCode: 0, isMet: false },
  { what: "another container", onExitCodes: { containerName: "side", operator: "In", values: [42] }, exitCode: 42, isMet: false },
])("podFailurePolicy: $what", ({ onExitCodes, exitCode, isMet }) => {
  const match = failureMatch(aJob({ podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes }] } }), ended("Failed", { exitCode }));
  const message = `Container main for pod default/j-0 failed with exit code ${exitCode} matching FailJob rule at index 0`;
  expect(match).toEqual(isMet ? { action: "FailJob", message } : undefined);
});

test("podFailurePolicy: a disruption is ignored, and only where the condition holds", () => {
  const job = aJob({ podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] } });
  const disrupted = ended("Failed", { conditions: [{ type: "DisruptionTarget", status: "True" }] });
  expect(failureMatch(job, disrupted)?.action).toBe("Ignore");
  expect(failureMatch(job, ended("Failed", { conditions: [{ type: "DisruptionTarget", status: "False" }] }))).toBeUndefined();
});

test("backoffLimitPerIndex: an index fails by itself, the Job when no index is left", () => {
  const job = aJob({ completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 1, maxFailedIndexes: 1 });
  const once = failedIndexes(job, [ended("Failed", { index: 1 })], []);
  const twice = failedIndexes(job, [ended("Failed", { index: 1 }), ended("Failed", { index: 1 })], []);
  expect([...(once ?? [])]).toEqual([]);
  expect([...(twice ?? [])]).toEqual([1]);
  expect(indexVerdict(job, new Set([1]), 1)).toBeUndefined();
  expect(indexVerdict(job, new Set([1]), 2)).toEqual({ type: "Failed", reason: "FailedIndexes", message: "Job has failed indexes" });
  expect(indexVerdict(job, new Set([0, 1]), 0)?.reason).toBe("MaxFailedIndexesExceeded");
  expect(failedIndexes(aJob({}), [ended("Failed")], [])).toBeUndefined();
});

test.each([
  { what: "all of the named indexes", rules: [{ succeededIndexes: "0-1" }], done: [0, 1], at: 0 },
  { what: "not yet all of them", rules: [{ succeededIndexes: "0-1" }], done: [0], at: undefined },
  { what: "so many of the named indexes", rules: [{ succeededIndexes: "0-2", succeededCount: 2 }], done: [0, 2], at: 0 },
  { what: "so many of any, by the second rule", rules: [{ succeededIndexes: "9" }, { succeededCount: 1 }], done: [4], at: 1 },
])("successPolicy: $what", ({ rules, done, at }) => {
  const verdict = successVerdict(
    aJob({ completionMode: "Indexed", successPolicy: { rules } }),
    done.map((index) => ended("Succeeded", { index })),
  );
  expect(verdict).toEqual(
    at === undefined ? undefined : { type: "Complete", reason: "SuccessPolicy", message: `Matched rules at index ${at}` },
  );
});

test("indexes are read as they are written", () => {
  expect([...indexesOf("0-2,5")]).toEqual([0, 1, 2, 5]);
});
