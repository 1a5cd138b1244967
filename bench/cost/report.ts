/** How the programs of this folder print what they found. */
import { cpus } from "node:os";

export interface Finding {
  readonly name: string;
  readonly params: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
}

/** @param shown a metric for people */
export function print(
  { name, params, metrics }: Finding,
  isJson: boolean,
  shown = (metric: string, amount: number) => `${metric} ${amount}`,
): void {
  const machine = `${cpus()[0]?.model ?? "unknown"} x${cpus().length}, Node ${process.versions.node}`;
  if (isJson) return void process.stdout.write(`${JSON.stringify({ name, params, metrics, machine })}\n`);
  const figures = Object.entries(metrics).map(([metric, amount]) => shown(metric, amount));
  process.stdout.write(`${name} ${JSON.stringify(params)}: ${figures.join(", ")}\n`);
}

export function rounded(amount: number, digits: number): number {
  return Math.round(amount * 10 ** digits) / 10 ** digits;
}
