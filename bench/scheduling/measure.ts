/**
 * One case in the process that it has for itself: the first solve, with its time, CPU and memory, and the best of later ones. Prints the
 * figures as JSON. `node --expose-gc bench/scheduling/measure.ts '{"corpus":"diverse","pods":1000,"types":400,"seed":1}'`, or with `files`
 * in place of a corpus.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { type Plan, type Problem, solve } from "@joinery/scheduling";
import type { ProblemFiles } from "../peer/peer.ts";
import { readProblem } from "../peer/read-problem.ts";
import { CORPORA, type CorpusSize } from "./corpora.ts";

export interface Case extends CorpusSize {
  readonly corpus: string;
  /** The same problem as files. */
  readonly files?: ProblemFiles;
  readonly warmSolves: number;
}

export interface Figures {
  readonly types: number;
  readonly solveMilliseconds: number;
  /** Of the solving thread: on a busy machine it waits, and this is what it did. */
  readonly cpuMilliseconds: number;
  /** Of all threads, compiler and collector included. */
  readonly allCpuMilliseconds: number;
  readonly warmSolveMilliseconds?: number;
  /** From before the solve to its end, garbage included. */
  readonly heapGrownMiB: number;
  /** What of it is alive, the plan included. */
  readonly heapKeptMiB: number;
  /** Highest resident memory of the process during the solve above that before it; absent where the system does not tell. */
  readonly rssGrownMiB?: number;
  readonly newNodes: number;
  readonly unschedulable: number;
  readonly usdPerHour: number;
}

process.stdout.write(`${JSON.stringify(await measure(JSON.parse(process.argv[2] ?? "{}") as Case))}\n`);

async function measure(wish: Case): Promise<Figures> {
  const problem = wish.files === undefined ? await corpusProblem(wish) : readProblem(wish.files);
  collect();
  forgetPeak();
  const before = process.memoryUsage();
  const threadBefore = process.threadCpuUsage();
  const allBefore = process.cpuUsage();
  const started = performance.now();
  const plan = solve(problem);
  const solveMilliseconds = performance.now() - started;
  const thread = process.threadCpuUsage(threadBefore);
  const all = process.cpuUsage(allBefore);
  const after = process.memoryUsage();
  const peak = peakBytes();
  collect();
  const kept = process.memoryUsage();
  const warm = Array.from({ length: wish.warmSolves }, () => timed(() => solve(problem)));
  return {
    types: new Set(problem.pools.flatMap(({ instanceTypes }) => instanceTypes)).size,
    solveMilliseconds,
    cpuMilliseconds: (thread.user + thread.system) / 1000,
    allCpuMilliseconds: (all.user + all.system) / 1000,
    ...(warm.length > 0 && { warmSolveMilliseconds: Math.min(...warm) }),
    heapGrownMiB: mebibytes(heapOf(after) - heapOf(before)),
    heapKeptMiB: mebibytes(heapOf(kept) - heapOf(before)),
    ...(peak !== undefined && { rssGrownMiB: mebibytes(peak - before.rss) }),
    ...outcomeOf(plan),
  };
}

async function corpusProblem({ corpus, ...size }: Case): Promise<Problem> {
  const make = CORPORA[corpus];
  if (make === undefined) throw new Error(`unknown corpus ${corpus}: choose among ${Object.keys(CORPORA).join(", ")}`);
  return await make(size);
}

function outcomeOf({ newNodes, unschedulable }: Plan): Pick<Figures, "newNodes" | "unschedulable" | "usdPerHour"> {
  const usdPerHour = newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour, 0);
  return { newNodes: newNodes.length, unschedulable: unschedulable.length, usdPerHour };
}

function heapOf({ heapUsed, arrayBuffers }: NodeJS.MemoryUsage): number {
  return heapUsed + arrayBuffers;
}

/** From here on the system's record of the highest resident memory starts anew (Linux). */
function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Elsewhere the peak stays that of the whole process, and is not told.
  }
}

function peakBytes(): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

function timed(action: () => void): number {
  const started = performance.now();
  action();
  return performance.now() - started;
}

function collect(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function mebibytes(bytes: number): number {
  return bytes / 2 ** 20;
}
