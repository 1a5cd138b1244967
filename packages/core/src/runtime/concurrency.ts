/** How many workers a controller gets for the CPU that it was given. Rules L-19, L-20, O-104…O-106. */

export interface WorkerRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Workers for `cpuMillicores` of requests: linear from `min` at one core to `max` at sixty. L-19.
 * Fewer than one millicore counts as one core (O-21).
 */
export function workersFor({ min, max }: WorkerRange, cpuMillicores: number): number {
  const cores = Math.ceil((cpuMillicores > 0 ? cpuMillicores : 1000) / 1000);
  const workers = Math.trunc(((max - min) / 59) * (cores - 1)) + min;
  return Math.min(Math.max(workers, min), max);
}

export interface BucketSize {
  readonly perSecond: number;
  readonly burst: number;
}

/** Token bucket that grows with the workers. L-20. */
export function bucketFor(minPerSecond: number, minWorkers: number, workers: number): BucketSize {
  const perSecond = Math.ceil((workers * minPerSecond) / minWorkers);
  return { perSecond, burst: perSecond * 10 };
}
