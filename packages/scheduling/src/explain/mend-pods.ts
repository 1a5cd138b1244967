/**
 * Pods that no plan may be made for, because a label that they ask for is restricted or has no such value: what makes them pods that one
 * may be made for, and gives them a place. Proved as all fixes are, by solving the whole problem with it. Rules S-18, S-20, S-21.
 */
import type { LabelVocabulary, NodeSelectorRequirement } from "@joinery/api";
import { normalizeLabel } from "@joinery/api";
import { invalidRequirement, validatePodForScheduling } from "../pods/validate-pod.ts";
import type { PodShape, PodToPlace, Problem } from "../problem.ts";
import { type Solution, solveToExplain } from "../solve/solve.ts";
import { type Edit, edited } from "./edit.ts";
import { createExplainer, type ExplainOptions, type PodExplanation } from "./explainer.ts";
import type { FoundFix } from "./fix-search.ts";
import { corrections, removals } from "./label-edits.ts";
import { nearValue } from "./near-word.ts";

export interface WrongPods {
  /** Without them. */
  readonly problem: Problem;
  /** All of one workload that were refused; the first stands for them. At least one. */
  readonly pods: readonly PodToPlace[];
  readonly vocabulary: LabelVocabulary;
  readonly options?: ExplainOptions;
}

export interface MendedPods {
  readonly fix: FoundFix | undefined;
  /** What the solver would say of the pod as it is; undefined where it would take it. */
  readonly answer: Extract<PodExplanation, { kind: "unschedulable" }> | undefined;
}

export function mendPods({ problem, pods, vocabulary, options = {} }: WrongPods): MendedPods {
  const before = solveToExplain(problem);
  const whole = { ...problem, pods: [...problem.pods, ...pods] };
  const { key, shape } = pods[0]!;
  // Others make what the fix is looked for in; the pods as they are only tell how far they would come.
  const asIs = createExplainer(whole, { canMake: () => false }).pod(key);
  const question = { whole, pods, vocabulary, options, unplaced: new Set(before.plan.unschedulable.map(({ pod }) => pod)) };
  let fix: FoundFix | undefined;
  for (const edits of mendings(shape, before, vocabulary)) {
    if (edits.some((edit) => options.canMake?.(edit, key) === false)) continue;
    fix = proved(edits, question);
    if (fix !== undefined) break;
  }
  return { fix, answer: asIs?.kind === "unschedulable" ? asIs : undefined };
}

/** What was probably meant, then without all that is wrong; each may be all that it takes, or only the beginning. */
function mendings(shape: PodShape, { templates }: Solution, vocabulary: LabelVocabulary): readonly (readonly Edit[])[] {
  const wrong = removals(shape).filter((edit) => invalidRequirement(itemOf(shape, edit), vocabulary).length > 0);
  const meant = corrections(
    templates.map((template) => ({ template })),
    shape,
  );
  const corrected = wrong.map((removal) => {
    const right = meant.find((edit) => isOfPlace(edit, removal)) ?? knownValue(shape, removal, vocabulary);
    return right !== undefined && isSound(right, vocabulary) ? right : removal;
  });
  // Later expressions of a term first, for those before them keep their places.
  return wrong.length === 0 ? [] : [corrected, wrong].map((edits) => withoutRest(edits.toReversed()));
}

/** Where one edit takes all terms, the others have nothing to change. */
function withoutRest(edits: readonly LabelEdit[]): readonly Edit[] {
  const ends = (edit: LabelEdit) => edit.kind === "node-affinity" && edit.isAll === true;
  const end = edits.find(ends);
  return end === undefined ? edits : edits.filter((edit) => edit === end || edit.kind === "node-selector");
}

type LabelEdit = Extract<Edit, { kind: "node-selector" | "node-affinity" }>;

function itemOf({ nodeSelector = {}, affinity }: PodShape, edit: LabelEdit): NodeSelectorRequirement {
  if (edit.kind === "node-selector") return { key: edit.key, operator: "In", values: [nodeSelector[edit.key]!] };
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms[edit.term]!.matchExpressions![edit.expression]!;
}

function isOfPlace(one: LabelEdit, other: LabelEdit): boolean {
  if (one.kind === "node-selector") return other.kind === one.kind && other.key === one.key;
  return other.kind === one.kind && other.term === one.term && other.expression === one.expression;
}

function isSound(edit: LabelEdit, vocabulary: LabelVocabulary): boolean {
  if (edit.to === undefined) return true;
  const item: NodeSelectorRequirement = "operator" in edit.to ? edit.to : { key: edit.to.key, operator: "In", values: [edit.to.value] };
  return invalidRequirement(item, vocabulary).length === 0;
}

/** Of a label whose values are known, also where no pool has it at the moment. */
function knownValue(shape: PodShape, edit: LabelEdit, { knownValues }: LabelVocabulary): LabelEdit | undefined {
  const { key, values = [], ...item } = itemOf(shape, edit);
  const known = knownValues[normalizeLabel(key)];
  if (known === undefined) return undefined;
  const near = values.map((value) => nearValue(key, value, known));
  if (near.includes(undefined)) return undefined;
  if (edit.kind === "node-selector") return { ...edit, to: { key, value: near[0]! } };
  return { ...edit, to: { ...item, key, values: near as string[] } };
}

interface Proof extends Omit<WrongPods, "problem"> {
  readonly whole: Problem;
  readonly unplaced: ReadonlySet<string>;
  readonly options: ExplainOptions;
}

function proved(edits: readonly Edit[], { whole, pods, vocabulary, options, unplaced }: Proof): FoundFix | undefined {
  const mine = new Set(pods.map(({ key }) => key));
  const changed = edited(whole, edits, mine);
  const isRight = changed.pods.every(({ key, shape }) => !mine.has(key) || validatePodForScheduling(shape, vocabulary).length === 0);
  if (!isRight) return undefined;
  const explainer = createExplainer(changed, options);
  const left = explainer.plan.unschedulable.map(({ pod }) => pod);
  if (left.some((key) => !mine.has(key) && !unplaced.has(key))) return undefined;
  const first = left.find((key) => mine.has(key));
  if (first === undefined) return { edits, laterSolves: 0 };
  const more = explainer.fix(first);
  return more && { edits: [...edits, ...more.edits], laterSolves: more.laterSolves };
}
