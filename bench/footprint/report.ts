/** How figures leave the bench: rounded, one line of JSON a case, or text for people. */
import { cpus } from "node:os";
import type { Cgroup } from "./cgroup.ts";

export interface Line {
  readonly name: string;
  readonly params: Readonly<Record<string, number | string>>;
  readonly metrics: Readonly<Record<string, number>>;
  /** Why a case has no more figures. */
  readonly failure?: string;
}

export function seconds(ms: number): number {
  return rounded(ms / 1000);
}

export function mebibytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10;
}

export function rounded(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** The smallest value that at least this share of the values does not exceed; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function cgroupFigures(cgroup: Cgroup | undefined): Record<string, number> {
  if (cgroup === undefined) return {};
  const { memoryPeakBytes, oomKills, throttledPeriods, periods, throttledSeconds } = cgroup.figures();
  return {
    cgroupPeakMiB: mebibytes(memoryPeakBytes),
    oomKills,
    throttledPeriods,
    cpuPeriods: periods,
    throttledSeconds: rounded(throttledSeconds),
  };
}

export function print(line: Line, isJson: boolean): void {
  const machine = `${cpus()[0]?.model ?? "unknown"} x${cpus().length}, Node ${process.versions.node}`;
  if (isJson) return void process.stdout.write(`${JSON.stringify({ ...line, machine })}\n`);
  const pairs = (of: Readonly<Record<string, number | string>>) => Object.entries(of).map(([key, value]) => `${key} ${value}`);
  const head = [line.name, ...pairs(line.params)].join(", ");
  process.stdout.write(
    `${[head, ...pairs(line.metrics).map((text) => `  ${text}`), ...(line.failure === undefined ? [] : [line.failure])].join("\n")}\n`,
  );
}
