/** All rules, in the order of the reference in `docs/lint.md`. */
import type { Rule } from "./rule.ts";
import { affinityWithoutMatch } from "./rules/affinity-without-match.ts";
import { antiAffinityCrowded } from "./rules/anti-affinity-crowded.ts";
import { budgetBlocks } from "./rules/budget-blocks.ts";
import { budgetWithoutEffect } from "./rules/budget-without-effect.ts";
import { bufferKeepsNothing } from "./rules/buffer-keeps-nothing.ts";
import { contradictoryRequirements } from "./rules/contradictory-requirements.ts";
import { daemonSetOrTerms } from "./rules/daemonset-or-terms.ts";
import { deprecatedLabel } from "./rules/deprecated-label.ts";
import { doNotDisruptCut } from "./rules/do-not-disrupt-cut.ts";
import { gracePeriodCut } from "./rules/grace-period-cut.ts";
import { limitTooSmall } from "./rules/limit-too-small.ts";
import { limitWithoutEffect } from "./rules/limit-without-effect.ts";
import { minValuesUnreachable } from "./rules/min-values-unreachable.ts";
import { missingToleration } from "./rules/missing-toleration.ts";
import { nodeClassMissing } from "./rules/node-class-missing.ts";
import { nodeClassNotReady } from "./rules/node-class-not-ready.ts";
import { overlayWithoutEffect } from "./rules/overlay-without-effect.ts";
import { pdbBlocks } from "./rules/pdb-blocks.ts";
import { pdbOverlap } from "./rules/pdb-overlap.ts";
import { pdbSelectsNothing } from "./rules/pdb-selects-nothing.ts";
import { poolWithoutTypes } from "./rules/pool-without-types.ts";
import { priorityClassMissing } from "./rules/priority-class-missing.ts";
import { requestNearlyNothing } from "./rules/request-nearly-nothing.ts";
import { requestTooLarge } from "./rules/request-too-large.ts";
import { runtimeInvalid } from "./rules/runtime-invalid.ts";
import { scheduleAlwaysActive } from "./rules/schedule-always-active.ts";
import { scheduleInvalid } from "./rules/schedule-invalid.ts";
import { scheduleNeverFires } from "./rules/schedule-never-fires.ts";
import { settingWithoutEffect } from "./rules/setting-without-effect.ts";
import { shadowedPool } from "./rules/shadowed-pool.ts";
import { shortLivedNode } from "./rules/short-lived-node.ts";
import { spreadIgnoresItself } from "./rules/spread-ignores-itself.ts";
import { spreadWithoutDomains } from "./rules/spread-without-domains.ts";
import { startupTaintStays } from "./rules/startup-taint-stays.ts";
import { storageMissing } from "./rules/storage-missing.ts";
import { unknownLabel } from "./rules/unknown-label.ts";
import { unknownLabelValue } from "./rules/unknown-label-value.ts";
import { unschedulableWorkload } from "./rules/unschedulable-workload.ts";
import { zoneWithoutOfferings } from "./rules/zone-without-offerings.ts";

export const RULES: readonly Rule[] = [
  // Pools
  runtimeInvalid,
  contradictoryRequirements,
  poolWithoutTypes,
  minValuesUnreachable,
  limitTooSmall,
  limitWithoutEffect,
  shadowedPool,
  nodeClassMissing,
  nodeClassNotReady,
  startupTaintStays,
  overlayWithoutEffect,
  // Disruption
  budgetBlocks,
  budgetWithoutEffect,
  scheduleInvalid,
  scheduleNeverFires,
  scheduleAlwaysActive,
  settingWithoutEffect,
  shortLivedNode,
  // PodDisruptionBudgets
  pdbBlocks,
  pdbOverlap,
  pdbSelectsNothing,
  // Workloads
  unknownLabel,
  unknownLabelValue,
  deprecatedLabel,
  missingToleration,
  requestTooLarge,
  requestNearlyNothing,
  unschedulableWorkload,
  storageMissing,
  priorityClassMissing,
  bufferKeepsNothing,
  zoneWithoutOfferings,
  spreadWithoutDomains,
  spreadIgnoresItself,
  affinityWithoutMatch,
  antiAffinityCrowded,
  daemonSetOrTerms,
  doNotDisruptCut,
  gracePeriodCut,
];
