/** Our own kinds (NodePool, NodeClaim, node classes …): validated by their one schema in `packages/api`. */
import { type Issue, type Kind, ownedKindOf, validateManifest } from "@joinery/api";
import type { Manifest } from "./manifest.ts";
import { issueWords } from "./owned-words.ts";
import { type InputProblem, problemAt, valueAt } from "./problem.ts";

export type OwnedVerdict = { readonly kind: "not-ours" } | { readonly kind: "ours"; readonly problems: readonly InputProblem[] };

/** Kinds and versions of our groups that exist no more are ours, too: they are refused, not ignored. */
export function checkOwned(manifest: Manifest): OwnedVerdict {
  const issues = validateManifest(manifest.object);
  const kind = ownedKindOf(manifest.object);
  if (issues.length === 0 && kind === undefined) return { kind: "not-ours" };
  return { kind: "ours", problems: issues.map((issue) => problemOf(manifest, kind, issue)) };
}

function problemOf(manifest: Manifest, kind: Kind | undefined, issue: Issue): InputProblem {
  return problemAt(manifest, issue.path, issueWords(kind, issue, valueAt(manifest.object, issue.path)));
}
