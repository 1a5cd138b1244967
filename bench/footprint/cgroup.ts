/**
 * A Linux control group with a limit on memory and CPU, as a container has. Both versions of cgroups are known; the group is made below
 * the one that this process is in, and goes when it is empty. Needs root.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CgroupLimits {
  readonly memoryBytes: number;
  /** 0.25 is a quarter of a core. */
  readonly cpus: number;
}

/** Law 5: half of what Fargate sells as its smallest size, and all of its CPU. */
export const SMALLEST_BOX: CgroupLimits = { memoryBytes: 256 * 2 ** 20, cpus: 0.25 };

export interface CgroupFigures {
  /** The most that was charged to the group, file pages included. */
  readonly memoryPeakBytes: number;
  readonly oomKills: number;
  /** Periods of 100 ms in which the group was made to wait, and of all in which it ran. */
  readonly throttledPeriods: number;
  readonly periods: number;
  /** How long its threads were made to wait, summed over the machine's cores. */
  readonly throttledSeconds: number;
}

export interface Cgroup {
  /** A process that writes its ID into all of these is in the group. */
  readonly memberFiles: readonly string[];
  figures(): CgroupFigures;
  /** Only when no process is left in it. */
  remove(): void;
}

const ROOT = "/sys/fs/cgroup";
const PERIOD_MICROSECONDS = 100_000;
/** The largest share there is, in both versions: the quota alone limits the group, not what else runs on a busy machine. */
const SHARES_MAX = 262_144;
const WEIGHT_MAX = 10_000;

export function createCgroup(name: string, limits: CgroupLimits): Cgroup {
  return existsSync(join(ROOT, "memory")) ? createVersion1(name, limits) : createVersion2(name, limits);
}

function createVersion1(name: string, { memoryBytes, cpus }: CgroupLimits): Cgroup {
  const memory = join(ROOT, "memory", ownPath("memory"), name);
  const cpu = join(ROOT, "cpu", ownPath("cpu"), name);
  for (const folder of [memory, cpu]) mkdirSync(folder);
  write(memory, "memory.limit_in_bytes", memoryBytes);
  write(cpu, "cpu.cfs_period_us", PERIOD_MICROSECONDS);
  write(cpu, "cpu.cfs_quota_us", Math.round(PERIOD_MICROSECONDS * cpus));
  write(cpu, "cpu.shares", SHARES_MAX);
  return {
    memberFiles: [join(memory, "cgroup.procs"), join(cpu, "cgroup.procs")],
    figures: () => ({
      memoryPeakBytes: Number(readFileSync(join(memory, "memory.max_usage_in_bytes"), "utf8")),
      oomKills: keyed(memory, "memory.oom_control", "oom_kill"),
      throttledPeriods: keyed(cpu, "cpu.stat", "nr_throttled"),
      periods: keyed(cpu, "cpu.stat", "nr_periods"),
      throttledSeconds: keyed(cpu, "cpu.stat", "throttled_time") / 1e9,
    }),
    remove: () => {
      for (const folder of [memory, cpu]) rmdirSync(folder);
    },
  };
}

function createVersion2(name: string, { memoryBytes, cpus }: CgroupLimits): Cgroup {
  // Below the root, since a group with processes in it may hand no controller on.
  writeFileSync(join(ROOT, "cgroup.subtree_control"), "+memory +cpu");
  const folder = join(ROOT, name);
  mkdirSync(folder);
  write(folder, "memory.max", memoryBytes);
  if (existsSync(join(folder, "memory.swap.max"))) write(folder, "memory.swap.max", 0);
  write(folder, "cpu.max", `${Math.round(PERIOD_MICROSECONDS * cpus)} ${PERIOD_MICROSECONDS}`);
  write(folder, "cpu.weight", WEIGHT_MAX);
  return {
    memberFiles: [join(folder, "cgroup.procs")],
    figures: () => ({
      memoryPeakBytes: Number(readFileSync(join(folder, "memory.peak"), "utf8")),
      oomKills: keyed(folder, "memory.events", "oom_kill"),
      throttledPeriods: keyed(folder, "cpu.stat", "nr_throttled"),
      periods: keyed(folder, "cpu.stat", "nr_periods"),
      throttledSeconds: keyed(folder, "cpu.stat", "throttled_usec") / 1e6,
    }),
    remove: () => rmdirSync(folder),
  };
}

/** The group of this process in one hierarchy of version 1, e.g. `/user/42`. */
function ownPath(controller: string): string {
  const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const found = lines.map((line) => line.split(":")).find(([, controllers]) => controllers?.split(",").includes(controller));
  return found?.[2] ?? "/";
}

function write(folder: string, file: string, value: number | string): void {
  writeFileSync(join(folder, file), String(value));
}

/** One number of a file with a name and a number per line. */
function keyed(folder: string, file: string, key: string): number {
  return Number(new RegExp(`^${key} (\\d+)$`, "m").exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? 0);
}
