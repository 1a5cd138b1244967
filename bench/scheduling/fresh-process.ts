/** Cases in processes of their own, several times each, because the first solve of a process is mostly the engine's warm-up. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Cgroup, createCgroup } from "../footprint/cgroup.ts";
import type { Case, Figures } from "./measure.ts";

const LIMITS = { memoryBytes: 256 * 2 ** 20, cpus: 0.25 };

export interface RunWish {
  readonly runs: number;
  /** In a control group of 256 MiB and a quarter of a core. Needs root. */
  readonly isLimited: boolean;
}

/** What several runs of one case say together. */
export interface Summary {
  /** Of the run with the median time. */
  readonly median: Figures;
  readonly bestSolveMilliseconds: number;
  readonly bestCpuMilliseconds: number;
  /** Charged to the control group, the highest of all runs. */
  readonly cgroupPeakMiB?: number;
  readonly oomKills?: number;
}

export function summaryOf(wish: Case, { runs, isLimited }: RunWish): Summary {
  const cgroup = isLimited ? createCgroup(`joinery-solve-${process.pid}`, LIMITS) : undefined;
  try {
    const all = Array.from({ length: runs }, () => figuresOf(wish, cgroup));
    all.sort((one, other) => one.solveMilliseconds - other.solveMilliseconds);
    const charged = cgroup?.figures();
    return {
      median: all[(all.length - 1) >>> 1]!,
      bestSolveMilliseconds: all[0]!.solveMilliseconds,
      bestCpuMilliseconds: Math.min(...all.map(({ cpuMilliseconds }) => cpuMilliseconds)),
      ...(charged && { cgroupPeakMiB: charged.memoryPeakBytes / 2 ** 20, oomKills: charged.oomKills }),
    };
  } finally {
    cgroup?.remove();
  }
}

function figuresOf(wish: Case, cgroup: Cgroup | undefined): Figures {
  // sh enters the groups and then becomes Node, so that everything is charged to them.
  const enter = (cgroup?.memberFiles ?? []).map((file) => `echo $$ > '${file}' && `).join("");
  const node = [process.execPath, "--expose-gc", join(import.meta.dirname, "measure.ts"), JSON.stringify(wish)];
  const { status, signal, stdout, stderr } = spawnSync("sh", ["-c", `${enter}exec "$@"`, "sh", ...node], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${wish.corpus} of ${wish.pods} pods ended with ${status ?? signal}: ${stderr}`);
  return JSON.parse(stdout) as Figures;
}
