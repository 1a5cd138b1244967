/** The nodes that would take a pod, and the best of them. In large clusters a part of the nodes is enough, as in kube-scheduler. */
import type { Random } from "@joinery/kube";
import { type Cycle, refusalOf } from "./filters.ts";
import { namedNodes } from "./node-match.ts";
import { type Refusal, unresolvable } from "./refusal.ts";
import { scoresOf } from "./scores.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";

interface Candidates {
  readonly candidates: readonly NodeInfo[];
  readonly refusals: readonly Refusal[];
}

export interface CandidateSearch {
  /** Starts where the last search ended, so that all nodes get their turn. */
  find(cycle: Cycle): Candidates;
  /** The best; among equals by chance. */
  choose(cycle: Cycle, candidates: readonly NodeInfo[]): NodeInfo | undefined;
}

/** From so many nodes on, only a part is looked at: kube-scheduler's own figures. */
const SAMPLE_FROM_NODES = 100;

export function createCandidateSearch(snapshot: Snapshot, random: Random): CandidateSearch {
  let startAt = 0;
  return {
    find(cycle) {
      const names = namedNodes(cycle.info.pod);
      const nodes = snapshot.list();
      const candidates: NodeInfo[] = [];
      const refusals: Refusal[] = [];
      const enough = sampleSize(nodes.length);
      for (let step = 0; step < nodes.length && candidates.length < enough; step++) {
        const node = nodes[(startAt + step) % nodes.length]!;
        const isNamed = names === undefined || names.has(node.name);
        const refusal = isNamed ? refusalOf(cycle, node) : NOT_NAMED;
        if (refusal === undefined) {
          candidates.push(node);
        } else {
          refusals.push(refusal);
        }
      }
      startAt = nodes.length === 0 ? 0 : (startAt + candidates.length + refusals.length) % nodes.length;
      return { candidates, refusals };
    },
    choose(cycle, candidates) {
      if (candidates.length < 2) {
        return candidates[0];
      }
      const scores = scoresOf(cycle, snapshot, candidates);
      const best = Math.max(...scores);
      const equals = candidates.filter((_, at) => scores[at] === best);
      return equals[random.below(equals.length)];
    },
  };
}

/** Pods of DaemonSets name their node: the others are left out before any filter. */
const NOT_NAMED = unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]");

/** Half of the nodes less one percent for each 125 of them, 5 % at least. */
function sampleSize(nodeCount: number): number {
  if (nodeCount < SAMPLE_FROM_NODES) {
    return nodeCount;
  }
  const percent = Math.max(5, 50 - Math.floor(nodeCount / 125));
  return Math.max(SAMPLE_FROM_NODES, Math.floor((nodeCount * percent) / 100));
}
