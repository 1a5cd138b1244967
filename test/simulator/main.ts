/** `npm run simulate -- --days 365 --seed N [--feature-gates none] [--log FILE]`: prints what was lived through, and ends with 1 when a law was broken. */
import { closeSync, openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { GATES } from "./gates.ts";
import { type Report, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    "feature-gates": { type: "string", default: "all" },
    log: { type: "string" },
    quiet: { type: "boolean", default: false },
  },
});
const days = Number(values.days);
if (!(days > 0)) throw new Error(`Cannot simulate: --days is "${values.days}", wanted a number above 0`);
const gates = GATES.find((each) => each === values["feature-gates"]);
if (gates === undefined)
  throw new Error(`Cannot simulate: --feature-gates is "${values["feature-gates"]}", wanted one of ${GATES.join(", ")}`);
const file = values.log === undefined ? undefined : openSync(values.log, "w");
const startedMs = performance.now();
/** Ctrl-C: the day is lived to its end, and then it is told what was. */
let isEnough = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isEnough = true;
  });
}

const report = await simulate({
  seed: values.seed,
  days,
  gates,
  onLine: file === undefined ? undefined : (line) => void writeSync(file, line),
  onDay: (sofar) => {
    if (!values.quiet) console.error(`day ${Math.round(sofar.virtualDays)} of ${days}, ${total(sofar)} faults`);
    return isEnough ? "enough" : undefined;
  },
});
if (file !== undefined) closeSync(file);
const { user, system } = process.cpuUsage();
console.log(
  `simulate: seed ${report.seed}, ${report.virtualDays.toFixed(2)} virtual days, ${report.storms} storms, ${total(report)} faults, ${report.journalLines} lines, ` +
    `digest ${report.digest.slice(0, 16)}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} CPU s`,
);
console.log(`simulate: ${[...report.faults].map(([kind, count]) => `${kind} ${count}`).join(", ")}`);
if (report.violation !== undefined) {
  for (const line of report.lastLines ?? []) process.stdout.write(line);
  console.log(`simulate: VIOLATION ${report.violation.message}`);
  console.log(
    `simulate: replay with npm run simulate -- --days ${days} --seed ${report.seed}${gates === "all" ? "" : ` --feature-gates ${gates}`} --log journal.txt`,
  );
  process.exitCode = 1;
}

function total({ faults }: Report): number {
  let sum = 0;
  for (const count of faults.values()) sum += count;
  return sum;
}
