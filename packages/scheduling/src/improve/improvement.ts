/** How hard a solve looks for a cheaper plan, and what counts as cheap. Everything that decides comes in: no clock, no chance. */

/** What a plan is to cost beside its instances, and how much work may go into making it cheaper. */
export interface Improvement {
  /** Group visits: how often a group of equal pods is looked at for one node. About 20 to 50 million are a second of one core. */
  readonly steps: number;
  /** The same for each pod of the problem, because larger problems need more of them. */
  readonly stepsPerPod: number;
  /** Up to so many pods. More of them get fewer, so that a large problem is not kept waiting (`stepsFor`). */
  readonly fullEffortPods: number;
  readonly seed: number;
  /** What a node costs beside its instance: its agents, addresses, and its share of somebody's attention. */
  readonly nodeOverheadUsdPerHour: number;
  /** For pools whose node class says nothing about it (`PoolOffer.rootVolumeUsdPerHour`). */
  readonly rootVolumeUsdPerHour: number;
  /** Types that each spot node lists at least, where its pods' and its pool's constraints allow; 1 = no such wish. */
  readonly spotTypesMin: number;
}

export type Effort = "off" | "default" | "max";

/** Karpenter's own figure for replacing spot nodes by spot nodes: with fewer types a launch is likely to be interrupted soon. */
const SPOT_TYPES_MIN = 15;

/** USD per hour. */
export const DEFAULT_NODE_OVERHEAD = 0.005;

/** 20 GiB of gp3, what node classes have without being told otherwise, at 0.08 USD per GiB and month of 730 hours. */
const DEFAULT_ROOT_VOLUME = 0.0022;

/** USD per GiB and hour of gp3 in us-east-1, for node classes that say how large their root volume is. */
export const VOLUME_USD_PER_GIB_HOUR = 0.08 / 730;

/** Measured: 0.2 and 3 seconds of one core for 2,000 pods. */
const STEPS_PER_POD = { default: 4000, max: 60_000 };

/** What a controller with a quarter of a core answers within seconds. */
const FULL_EFFORT_PODS = 5000;

/** undefined: the greedy plan stays as it is. */
export function improvementOf(effort: Effort, nodeOverheadUsdPerHour = DEFAULT_NODE_OVERHEAD): Improvement | undefined {
  if (effort === "off") return undefined;
  return {
    steps: 20_000,
    stepsPerPod: STEPS_PER_POD[effort],
    fullEffortPods: FULL_EFFORT_PODS,
    seed: 1,
    nodeOverheadUsdPerHour,
    rootVolumeUsdPerHour: DEFAULT_ROOT_VOLUME,
    spotTypesMin: SPOT_TYPES_MIN,
  };
}

/**
 * Steps for a problem of so many pods. Beyond `fullEffortPods` they shrink with the square of the pods: everything else takes longer then, and
 * the first packing, which is most of what is won, is made of the pods that it has steps for.
 */
export function stepsFor({ steps, stepsPerPod, fullEffortPods }: Improvement, podCount: number): number {
  const part = Math.min(1, fullEffortPods / podCount);
  return Math.round(steps + stepsPerPod * Math.min(podCount, fullEffortPods) * part * part);
}
