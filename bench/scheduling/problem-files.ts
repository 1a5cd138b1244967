/** A corpus as files, so that the peer and the solver read the same bytes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProblemFiles, withCorpus } from "../peer/peer.ts";
import { problemManifests } from "../peer/problem-manifests.ts";
import { CORPORA } from "./corpora.ts";
import type { Case } from "./measure.ts";

/** Those of Karpenter's own benchmark, with its 400 types. */
export const SHARED_CORPORA: readonly string[] = ["diverse", "preferences"];

/** In a folder that is gone afterwards. */
export async function withProblemFiles<T>(wish: Case, use: (files: ProblemFiles) => T): Promise<T> {
  if (SHARED_CORPORA.includes(wish.corpus)) return withCorpus(wish, use);
  const { manifests, catalog } = problemManifests(await CORPORA[wish.corpus]!(wish));
  const folder = mkdtempSync(join(tmpdir(), "joinery-scheduling-"));
  try {
    const files = { manifests: [join(folder, "problem.json")], catalog: join(folder, "catalog.json") };
    writeFileSync(files.manifests[0]!, JSON.stringify(manifests));
    writeFileSync(files.catalog, JSON.stringify(catalog));
    return use(files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
