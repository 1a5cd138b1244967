/** The resources that Joinery owns, and the shapes of the Kubernetes objects that it reads. The only door of this room. */

// Drift, budgets, and the meaning of single fields.
export { allowedDisruptions, type BudgetAnswer, type BudgetError, type BudgetQuestion, UNBOUNDED } from "./budgets/allowed-disruptions.ts";
export { parseSchedule, type Schedule, type ScheduleParse } from "./budgets/cron.ts";
export { type BufferSize, bufferCount } from "./buffer-count.ts";
// Status conditions.
export {
  type ConditionKind,
  ec2NodeClassConditions,
  KWOK_NODE_CLASS_CONDITIONS,
  NODE_CLAIM_CONDITIONS,
  NODE_OVERLAY_CONDITIONS,
  NODE_POOL_CONDITIONS,
} from "./conditions/condition-kinds.ts";
export {
  type ConditionChange,
  type Conditioned,
  clearCondition,
  conditionStatus,
  findCondition,
  isConditionFalse,
  isConditionTrue,
  openConditions,
  setCondition,
  setConditions,
  withConditions,
} from "./conditions/conditions.ts";
export { type DoNotDisrupt, doNotDisrupt, isNotToBeDisrupted } from "./do-not-disrupt.ts";
export { EC2_NODE_CLASS_HASH_VERSION, ec2NodeClassHash, effectiveAmiFamily } from "./drift/ec2-node-class-hash.ts";
export {
  EC2_NODE_CLASS_HASHES,
  type HashAnnotations,
  hashAnnotations,
  isStaticallyDrifted,
  migratedAnnotations,
  NODE_POOL_HASHES,
} from "./drift/hash-annotations.ts";
export { NODE_POOL_HASH_VERSION, nodePoolHash } from "./drift/node-pool-hash.ts";
// Quantities and amounts, durations.
export {
  DURATION_MAX_NANOS,
  formatGoDuration,
  type NillableDuration,
  nanosToMs,
  parseDuration,
  parseGoDuration,
  parseNillableDuration,
} from "./duration.ts";
// Objects of Kubernetes: addresses and trimmed shapes.
export * from "./kubernetes/kinds.ts";
export type * from "./kubernetes/meta.ts";
export type * from "./kubernetes/node.ts";
export type * from "./kubernetes/pod.ts";
export * from "./kubernetes/storage-annotations.ts";
export type * from "./kubernetes/workloads.ts";
// Our own objects: addresses, types, choices, keys of labels and the like.
export * from "./labels.ts";
export { changedPrice } from "./overlay-price.ts";
export type { CapacityBuffer } from "./owned/capacity-buffer.ts";
export {
  AMI_FAMILIES,
  type AmiFamily,
  CONSOLIDATION_POLICIES,
  DISRUPTION_REASONS,
  type DisruptionReason,
  OPERATORS,
} from "./owned/choices.ts";
// What an API server does with CRDs and their objects.
export { crdOf, OWNED_KINDS } from "./owned/definitions.ts";
export type { Ec2NodeClass, Ec2NodeClassSpec, Ec2NodeClassStatus } from "./owned/ec2-node-class.ts";
export * from "./owned/kinds.ts";
export type { KwokNodeClass } from "./owned/kwok-node-class.ts";
export type { NodeClaim, NodeClaimSpec, NodeClaimStatus, NodeClassRef, Requirement } from "./owned/node-claim.ts";
export type { NodeOverlay } from "./owned/node-overlay.ts";
export type { DisruptionBudget, NodePool, NodePoolSpec } from "./owned/node-pool.ts";
export { crdFiles, renderCrd } from "./owned/render.ts";
export { admitted, ownedKindOf, schemaOf, validateManifest } from "./owned/validate-manifest.ts";
export { podLimits, podRequests, withDefaultedRequests } from "./pod-requests.ts";
export { canonicalQuantity, formatQuantity, parseQuantity, type Quantity, type QuantityFormat, quantityOf } from "./quantity.ts";
export {
  fits,
  formatAmount,
  formatResources,
  maxResources,
  minResources,
  parseResources,
  type Resources,
  subtractResources,
  sumResources,
} from "./resources.ts";
export { type CompiledSchema, compileSchema, compileVersion } from "./schema/compile.ts";
export { checkDefinition } from "./schema/definition.ts";
export { formatIssue, formatPath, type Issue, type IssueCode, type Path } from "./schema/issue.ts";
export { isEqualJson, isObject, type JsonObject, withSortedKeys } from "./schema/json.ts";
export type { CustomResourceDefinition, CustomResourceVersion, OpenApiSchema, PrinterColumn, ValidationRule } from "./schema/open-api.ts";
export { operatorHolds } from "./selector-operator.ts";
export { formatMicroTime, formatTime, parseTime } from "./timestamps.ts";
export { tolerates } from "./tolerations.ts";
// What the controller finds wrong after admission.
export { isRestrictedTag, validateEc2NodeClass } from "./validation/ec2-node-class.ts";
export { type Invalidity, type InvalidityKind, invalidityMessage, type RuntimeVerdict } from "./validation/invalidity.ts";
export { isLabelValue, isQualifiedName } from "./validation/names.ts";
export { validateNodeOverlay } from "./validation/node-overlay.ts";
export { validateNodePool } from "./validation/node-pool.ts";
