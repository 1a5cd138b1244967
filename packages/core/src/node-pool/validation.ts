/** What admission lets through and scheduling cannot use. Rules L-190, A-98…A-103. */
import { invalidityMessage, type NodePool, validateNodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import type { Loop } from "../runtime/loop.ts";
import { asleep, type Reconciler } from "../runtime/step.ts";
import { setPoolCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import { createPoolLoop } from "./pool-loop.ts";

const TYPE = "ValidationSucceeded";
const WORKERS = 10;

function createValidation({ writes, clock, provider, vocabulary, log }: Rooms): Reconciler<NodePool> {
  return {
    async reconcile(pool, signal) {
      if (!isManaged(pool.spec.template.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
      const { invalid, warnings } = validateNodePool(pool, vocabulary);
      if (warnings.length > 0) log.error({ NodePool: { name: pool.metadata?.name } }, invalidityMessage(warnings));
      const wished =
        invalid.length === 0
          ? ({ type: TYPE, status: "True" } as const)
          : ({ type: TYPE, status: "False", reason: "NodePoolValidationFailed", message: invalidityMessage(invalid) } as const);
      await writes.saveNodePool(pool, setPoolCondition(pool, wished, clock.wallMs()), signal);
      return asleep;
    },
  };
}

export function createValidationLoop(rooms: Rooms): Loop {
  return createPoolLoop(rooms, { name: "nodepool.validation", reconciler: createValidation(rooms), workers: WORKERS });
}
