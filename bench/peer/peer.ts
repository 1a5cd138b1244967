/** Problems for the peer and its plans of them. `build.sh` makes the program; `corpora.py` writes the problems, so that both sides read the same bytes. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequirementItem } from "@joinery/scheduling";

/** What the peer prints of its plan; the same fields as in a plan of ours. */
export interface PeerPlan {
  readonly newNodes: readonly {
    readonly nodePool: string;
    readonly requirements: readonly RequirementItem[];
    readonly instanceTypes: readonly string[];
    readonly pods: readonly string[];
  }[];
  readonly existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[];
  readonly unschedulable: readonly { readonly pod: string; readonly reasons: readonly { readonly message: string }[] }[];
  readonly stats: PeerFigures;
}

export interface PeerFigures {
  readonly pods: number;
  readonly newNodes: number;
  readonly unschedulable: number;
  /** By its own reckoning. */
  readonly pricePerHour: number;
  /** Of `Solve` alone, as in its own benchmark. */
  readonly solveSeconds: number;
  /** Of what comes before it: the scheduler is made for each solve. */
  readonly buildSeconds: number;
  /** What the Go runtime has taken of the system, manifests included. */
  readonly sysMiB: number;
}

export interface CorpusWish {
  readonly corpus: string;
  readonly pods: number;
  readonly seed: number;
}

/** Files of one problem, in a folder that is gone afterwards. */
export function withCorpus<T>({ corpus, pods, seed }: CorpusWish, use: (files: ProblemFiles) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "joinery-corpus-"));
  try {
    execFileSync("python3", [join(import.meta.dirname, "corpora.py"), corpus, String(pods), folder, String(seed)]);
    return use(filesIn(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As `corpora.py` names them. */
export function filesIn(folder: string): ProblemFiles {
  return { manifests: [join(folder, "problem.json")], catalog: join(folder, "catalog.json") };
}

export interface ProblemFiles {
  readonly manifests: readonly string[];
  readonly catalog: string;
}

/** @param program what `build.sh` has printed */
export function peerPlan(program: string, files: ProblemFiles): PeerPlan {
  return run(program, [], files) as PeerPlan;
}

/** Of one solve, without its plan. */
export function peerFigures(program: string, files: ProblemFiles): PeerFigures {
  return run(program, ["--bare"], files) as PeerFigures;
}

function run(program: string, flags: readonly string[], { manifests, catalog }: ProblemFiles): unknown {
  const { status, stdout, stderr, error } = spawnSync(program, [...flags, "--catalog", catalog, ...manifests], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw error ?? new Error(`the peer ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
