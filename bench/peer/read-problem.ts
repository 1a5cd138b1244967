/** The files of a corpus as the solver's problem: what they have of pods, pools, nodes and DaemonSets, and nothing else. */
import { readFileSync } from "node:fs";
import {
  admitted,
  type DaemonSet,
  type KubeObject,
  KWOK_VOCABULARY,
  type Node,
  type NodePool,
  NodePools,
  type Pod,
  parseResources,
  podRequests,
  subtractResources,
  sumResources,
} from "@joinery/api";
import { parseCatalogue } from "@joinery/kwok";
import { createShapeInterner, type ExistingNode, type InstanceType, type Problem, shapeOf } from "@joinery/scheduling";
import type { ProblemFiles } from "./peer.ts";

/** As `joinery plan` would see it (`read-problem.test.ts`). */
export function readProblem({ manifests, catalog }: ProblemFiles): Problem {
  const objects = manifests.flatMap((file) => (JSON.parse(readFileSync(file, "utf8")) as { items: KubeObject[] }).items);
  const ofKind = <T>(kind: string) => objects.filter((object) => object.kind === kind) as unknown as T[];
  const pods = Map.groupBy(ofKind<Pod>("Pod"), ({ spec }) => spec.nodeName);
  const interner = createShapeInterner();
  const instanceTypes = readCatalogue(catalog);
  return {
    pods: (pods.get(undefined) ?? []).map((pod) => ({
      key: `${pod.metadata!.namespace}/${pod.metadata!.name}`,
      uid: pod.metadata!.uid!,
      createdAtMs: 0,
      shape: interner.intern(shapeOf(pod)),
    })),
    nodes: ofKind<Node>("Node").map((node) => existingNode(node, pods.get(node.metadata!.name) ?? [])),
    pools: ofKind<NodePool>("NodePool").map((pool) => ({ nodePool: admitted(NodePools, pool), instanceTypes })),
    daemonSets: ofKind<DaemonSet>("DaemonSet").map(({ metadata, spec }) => ({
      key: `${metadata!.namespace}/${metadata!.name}`,
      shape: shapeOf({ metadata: { ...spec.template.metadata, namespace: metadata!.namespace }, spec: spec.template.spec } as Pod),
    })),
    options: { preferencePolicy: "Respect", minValuesPolicy: "Strict", wellKnownLabels: KWOK_VOCABULARY.wellKnown },
  };
}

function readCatalogue(file: string): readonly InstanceType[] {
  const outcome = parseCatalogue(JSON.parse(readFileSync(file, "utf8")));
  if (outcome.kind === "invalid") throw new Error(`${file}: ${outcome.faults[0]!.path}: ${outcome.faults[0]!.message}`);
  return outcome.types;
}

function existingNode({ metadata, spec, status }: Node, bound: readonly Pod[]): ExistingNode {
  return {
    name: metadata!.name!,
    labels: metadata!.labels ?? {},
    taints: spec?.taints ?? [],
    capacity: parseResources(status?.capacity),
    available: subtractResources(parseResources(status?.allocatable), sumResources(...bound.map(podRequests))),
    daemonSetRequests: {},
    isInitialized: true,
  };
}
