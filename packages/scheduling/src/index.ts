/** The solver: a problem in, a plan with reasons out. Pure. */
export { type BufferCondition, type BufferOutcome, type BufferPlaces, bufferCondition, bufferOutcome } from "./buffers/buffer-outcome.ts";
export { type BufferResolution, type BufferSources, resolveBuffer, type ScalableKind } from "./buffers/resolve-buffer.ts";
export { virtualPods } from "./buffers/virtual-pods.ts";
export { allocatableOf, isLaunchable } from "./catalog/allocatable.ts";
export type { CheaperPlan } from "./explain/cheaper-plan.ts";
export type { CheaperTypes } from "./explain/cheaper-types.ts";
export type { OwnNode } from "./explain/decision.ts";
export {
  type Edit,
  editedAffinity,
  editedPodTerms,
  editedSpreads,
  editsText,
  editText,
  isMeant,
  type OthersEdit,
  type PodEdit,
  type PoolEdit,
} from "./explain/edit.ts";
export {
  createExplainer,
  type Explainer,
  type ExplainOptions,
  explainPod,
  type NodeExplanation,
  type OtherPlaces,
  type PodExplanation,
} from "./explain/explainer.ts";
export type { FoundFix } from "./explain/fix-search.ts";
export type { FunnelStage, PoolFunnel } from "./explain/funnel.ts";
export type { LaunchChoice } from "./explain/launch-choice.ts";
export { type MendedPods, mendPods, type WrongPods } from "./explain/mend-pods.ts";
export { nearestWords, nearKey, nearValue, nearWord } from "./explain/near-word.ts";
export type { RefusedPlaces } from "./explain/place-refusals.ts";
export { flexibilityUsdPerHour } from "./improve/flexibility-cost.ts";
export { solve } from "./improve/improved-solve.ts";
export { DEFAULT_NODE_OVERHEAD, type Effort, type Improvement, improvementOf, VOLUME_USD_PER_GIB_HOUR } from "./improve/improvement.ts";
export type * from "./instance-type.ts";
export { evaluateOverlays, type OverlayEvaluation, type OverlayVerdict } from "./overlays/evaluate-overlays.ts";
export type { OverlaySet } from "./overlays/overlaid-types.ts";
export { compareNames, compareTexts } from "./plan/names.ts";
export { type ClaimDefaults, toNodeClaim, toStaticNodeClaim } from "./plan/node-claim.ts";
export {
  type NewNodeDocument,
  type PlanDocument,
  type PlanDocumentOptions,
  type PlanStats,
  type ReasonDocument,
  toPlanDocument,
  toReasonDocument,
} from "./plan/plan-document.ts";
export type * from "./plan.ts";
export { type Backers, createDefaultSpread, type DefaultSpread, type OwnerSelector } from "./pods/default-spread.ts";
export { createShapeInterner, type ShapeInterner, shapeOf } from "./pods/pod-shape.ts";
export { isPlaceable, isProvisionable } from "./pods/provisionable.ts";
export { invalidRequirement, validatePodForScheduling } from "./pods/validate-pod.ts";
export type * from "./problem.ts";
export type * from "./reason.ts";
export { decidedLabels, itemsMeet } from "./requirements/items.ts";
export { meetsRequirements } from "./requirements/node-labels.ts";
export { Requirement } from "./requirements/requirement.ts";
export { type Incompatibility, Requirements } from "./requirements/requirements.ts";
export { requirementItems, requirementsText, requirementText } from "./requirements/text.ts";
export { sentence, sentences } from "./sentence.ts";
export { taintText, untoleratedTaints } from "./taints.ts";
export { effectiveZones } from "./topology/effective-zone.ts";
