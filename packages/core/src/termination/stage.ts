/** What one stage of a node's end answers. Rule L-129. */
import type { NodeClaim } from "@joinery/api";
import type { Step } from "../runtime/step.ts";

export interface StageResult {
  /** With what the stage found out; undefined where the Node has no NodeClaim. */
  readonly claim: NodeClaim | undefined;
  /** Present while the next stage may not begin. */
  readonly wait?: Step;
}
