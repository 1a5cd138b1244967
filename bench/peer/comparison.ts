/** One problem, solved by both from the same files. */
import { DEFAULT_NODE_OVERHEAD, type Effort, type Plan, type Problem, solve } from "@joinery/scheduling";
import { readQuestion } from "../../packages/cli/src/plan/make-plan.ts";
import { readRequest } from "../../packages/cli/src/plan/run-plan.ts";
import { type ProblemFiles, peerPlan } from "./peer.ts";
import { planOfPeer } from "./peer-plan.ts";

export interface Comparison {
  /** As `joinery plan` sees it. */
  readonly problem: Problem;
  /** Pods that are not even tried. */
  readonly rejected: readonly string[];
  readonly ours: Plan;
  readonly theirs: Plan;
}

/** Throws on input that `joinery plan` refuses. */
export async function compareFiles(files: ProblemFiles, program: string, optimize: Effort): Promise<Comparison> {
  const { problem, rejected } = await readPlanProblem(files, optimize);
  return {
    problem,
    rejected: rejected.map(({ pod }) => `${pod.metadata.namespace}/${pod.metadata.name}`),
    ours: solve(problem),
    theirs: planOfPeer(peerPlan(program, files), problem),
  };
}

async function readPlanProblem({ manifests, catalog }: ProblemFiles, optimize: Effort) {
  const terminal = { write: () => {}, isInteractive: false, columns: 120, style: (_style: unknown, text: string) => text };
  const flags = {
    catalog,
    region: "us-east-1",
    preferencePolicy: "Respect",
    minValuesPolicy: "Strict",
    featureGates: "",
    schedulerConfig: "",
    optimize,
    nodeOverheadPrice: DEFAULT_NODE_OVERHEAD,
  } as const;
  const { request } = await readRequest(manifests, flags, { env: {}, out: terminal, err: terminal, readStdin: async () => "" });
  return readQuestion(request);
}

/** The name of the node that the plan has for the pod. */
export function placeOf(pod: string, { newNodes, existingNodes }: Plan): string | undefined {
  return [...newNodes, ...existingNodes].find(({ pods }) => pods.includes(pod))?.name;
}
