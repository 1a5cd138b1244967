/** What would give pods without a place one: once per workload, and for so many workloads that a plan stays fast. */
import { type Pod, Pods } from "@joinery/api";
import { type Explainer, type ExplainOptions, editsText, type FoundFix, isMeant } from "@joinery/scheduling";
import { keyOf } from "../object-key.ts";
import type { Question } from "../plan/make-plan.ts";
import { virtualPodObjects } from "../plan/planned-buffers.ts";
import { type FindOther, type Patch, patchesOf } from "./fix-patch.ts";
import { type Owner, ownerOf } from "./owner.ts";
import { wrongPods } from "./wrong-pods.ts";

export interface Fix {
  readonly message: string;
  /** JSON merge patch. */
  readonly patch: Patch;
  /** Where two objects have to be changed together: that of the other. */
  readonly secondPatch?: Patch;
  readonly morePatches?: readonly Patch[];
  /** Solves after the next one until the pods have their place: they are to be beside pods that are not placed yet. Absent: none. */
  readonly laterSolves?: number;
}

/** Each workload costs some more solves of the whole problem. */
const PODS_SOLVED_MAX = 20_000;
const WORKLOADS_MAX = 20;

/** Which pods one template stands for, and what can be said in it. */
export function explainOptions({ source, objects, buffers }: Pick<Question, "source" | "objects" | "buffers">): ExplainOptions {
  const owners = new Map<string, Owner>();
  const pods = new Map<string, Pod>([...objects.of(Pods), ...virtualPodObjects(buffers)].map((pod) => [keyOf(pod), pod]));
  const ownerOfKey = (key: string) => {
    const pod = pods.get(key);
    if (pod === undefined) return undefined;
    const known = owners.get(key) ?? ownerOf(pod, source);
    owners.set(key, known);
    return known;
  };
  const findOther = otherOwners(source, [...pods.values()]);
  return {
    workloadOf: (key) => {
      if ((pods.get(key)?.metadata?.ownerReferences ?? []).length === 0) return undefined;
      const owner = ownerOfKey(key);
      return owner && workloadName(owner);
    },
    canMake: (edit, key) => {
      const owner = ownerOfKey(key);
      return owner !== undefined && patchesOf([edit], owner, findOther) !== undefined;
    },
  };
}

/** By `namespace/name` of the pod. */
export function fixesOf(question: Question, explainer: Explainer, options: ExplainOptions): ReadonlyMap<string, Fix> {
  const { source, objects, problem, buffers, rejected } = question;
  const fixes = new Map<string, Fix>();
  const byWorkload = new Map<string, Fix | undefined>();
  const most = Math.max(1, Math.min(WORKLOADS_MAX, Math.floor(PODS_SOLVED_MAX / Math.max(1, problem.pods.length))));
  const unplaced = new Set([...explainer.plan.unschedulable.map(({ pod }) => pod), ...rejected.map(({ pod }) => keyOf(pod))]);
  const findMended = wrongPods(question, options);
  if (unplaced.size === 0) return fixes;
  for (const pod of [...objects.of(Pods), ...virtualPodObjects(buffers)]) {
    const key = keyOf(pod);
    if (!unplaced.has(key)) continue;
    const owner = ownerOf(pod, source);
    const workload = workloadName(owner);
    if (!byWorkload.has(workload))
      byWorkload.set(workload, byWorkload.size < most ? fixOf(explainer.fix(key) ?? findMended(key)?.fix, owner, question) : undefined);
    const fix = byWorkload.get(workload);
    if (fix !== undefined) fixes.set(key, fix);
  }
  return fixes;
}

export function fixOf(
  found: FoundFix | undefined,
  owner: Owner,
  { source, objects }: Pick<Question, "source" | "objects">,
): Fix | undefined {
  if (found === undefined) return undefined;
  const { edits, laterSolves } = found;
  const [patch, secondPatch, ...morePatches] = patchesOf(edits, owner, otherOwners(source, objects.of(Pods))) ?? [];
  if (patch === undefined) return undefined;
  return {
    message: editsText(edits),
    patch,
    ...(secondPatch && { secondPatch }),
    ...(morePatches.length > 0 && { morePatches }),
    ...(laterSolves > 0 && { laterSolves }),
  };
}

function otherOwners(source: Question["source"], pods: readonly Pod[]): FindOther {
  return (edit) => {
    const meant = pods.filter(({ metadata, spec: { affinity } }) => {
      const { namespace = "", labels = {} } = metadata ?? {};
      return isMeant({ namespace, labels, ...(affinity && { affinity }) }, edit);
    });
    const owners = new Map(meant.map((pod) => ownerOf(pod, source)).map((owner) => [workloadName(owner), owner]));
    return owners.size === 1 ? [...owners.values()][0] : undefined;
  };
}

function workloadName({ namespace, kind, name }: Owner): string {
  return `${namespace}/${kind}/${name}`;
}
