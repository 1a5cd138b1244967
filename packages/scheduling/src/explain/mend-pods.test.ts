import { CORE_VOCABULARY, HOSTNAME_LABEL } from "@joinery/api";
import { expect, test } from "vitest";
import { validatePodForScheduling } from "../pods/validate-pod.ts";
import { aPod, aPool, aProblem, type PodWish, type PoolWish, pods } from "../testing/builders.ts";
import { editsText } from "./edit.ts";
import { mendPods } from "./mend-pods.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const vocabulary = { ...CORE_VOCABULARY, restrictedDomains: ["karpenter.sh"] };

interface Case {
  readonly what: string;
  readonly pod: PodWish;
  readonly pool?: PoolWish;
  /** Of the funnel as the pod is. */
  readonly stage?: string;
  readonly fix: string | undefined;
}

test.each<Case>([
  {
    what: "S-21: a value that the label cannot have",
    pod: { nodeSelector: { [CAPACITY_TYPE]: "ondemand" } },
    stage: "requirement",
    fix: `write ${CAPACITY_TYPE}: on-demand in the node selector`,
  },
  {
    what: "S-21: a value that is known, and that the pool does not have",
    pod: { nodeSelector: { [CAPACITY_TYPE]: "ondemand" } },
    pool: { requirements: [{ key: CAPACITY_TYPE, operator: "In", values: ["spot"] }] },
    stage: "requirement",
    fix: `write ${CAPACITY_TYPE}: on-demand in the node selector, and write ${CAPACITY_TYPE} In [spot on-demand] instead of ${CAPACITY_TYPE} In [spot] in the requirements of NodePool default`,
  },
  {
    what: "S-20, S-21: a misspelt label in a restricted domain",
    pod: { terms: [[{ key: "karpenter.sh/capacity-tpye", operator: "In", values: ["Spot"] }]] },
    stage: "pool-label",
    fix: `write ${CAPACITY_TYPE} In [spot] in the required node affinity`,
  },
  {
    what: "S-20: a node by name",
    pod: { nodeSelector: { [HOSTNAME_LABEL]: "n-1" } },
    stage: "pool-label",
    fix: `remove ${HOSTNAME_LABEL} from the node selector`,
  },
  {
    what: "S-20: not a node by name, which the solver alone would take",
    pod: { terms: [[{ key: HOSTNAME_LABEL, operator: "NotIn", values: ["n-1"] }]] },
    fix: `remove the expression on ${HOSTNAME_LABEL} from the required node affinity`,
  },
  {
    what: "S-20, S-46: of two terms, neither of which is left",
    pod: {
      terms: [[{ key: HOSTNAME_LABEL, operator: "In", values: ["n-1"] }], [{ key: "karpenter.sh/rack", operator: "In", values: ["n-1"] }]],
    },
    stage: "pool-label",
    fix: `remove all terms of the required node affinity, of which one has only the expression on karpenter.sh/rack`,
  },
  {
    what: "S-20: two labels and a taint",
    pod: { nodeSelector: { [HOSTNAME_LABEL]: "n-1", "karpenter.sh/provisioner-name": "default" } },
    pool: { taints: [{ key: "team", value: "a", effect: "NoSchedule" }] },
    stage: "pool-label",
    fix: `write karpenter.sh/nodepool: default in the node selector instead of karpenter.sh/provisioner-name, and remove ${HOSTNAME_LABEL} from the node selector, and add a toleration for team=a:NoSchedule`,
  },
  {
    what: "S-18: nothing, where the pod has no place with any label",
    pod: { nodeSelector: { [HOSTNAME_LABEL]: "n-1", "kubernetes.io/arch": "s390x" } },
    stage: "pool-label",
    fix: undefined,
  },
])("$what", ({ pod, pool = {}, stage, fix }) => {
  const wrong = aPod(pod);
  expect(validatePodForScheduling(wrong.shape, vocabulary)).not.toEqual([]);
  const problem = aProblem({ pools: [aPool(pool)], pods: pods(2, { labels: { app: "other" }, tolerations: [{ operator: "Exists" }] }) });
  const mended = mendPods({ problem, pods: [wrong], vocabulary });
  expect(mended.answer?.funnel[0]?.stages.at(-1)?.stage).toBe(stage);
  expect(mended.fix && editsText(mended.fix.edits)).toBe(fix);
});
