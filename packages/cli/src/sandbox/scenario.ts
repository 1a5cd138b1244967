/** `--scenario FILE`: manifests in place of the sample workload; with NodePools of their own, those of the sandbox stay away. */
import type { Ec2NodeClass, KubeObject } from "@joinery/api";
import { loadManifests } from "../manifests/load.ts";
import { requireSound } from "../manifests/require-sound.ts";
import type { Surroundings } from "../surroundings.ts";
import { poolObjects, sampleWorkload } from "./day-one.ts";

export interface Scenario {
  readonly pools: readonly KubeObject[];
  readonly workload: readonly KubeObject[];
  /** By which its node classes select subnets and security groups: the simulated account is one that has them. */
  readonly networkTags: readonly Tag[];
}

interface Tag {
  readonly Key: string;
  readonly Value: string;
}

export async function readScenario(
  file: string | undefined,
  pods: number,
  clusterName: string,
  surroundings: Surroundings,
): Promise<Scenario> {
  if (file === undefined) return { pools: poolObjects(clusterName), workload: sampleWorkload(pods), networkTags: [] };
  const loaded = await loadManifests([file], surroundings.readStdin);
  requireSound(loaded, surroundings.err);
  const objects = loaded.manifests.map(({ object }) => object);
  const own = objects.filter(isPoolObject);
  const workload = objects.filter((object) => !isPoolObject(object));
  const hasPools = own.some(({ kind }) => kind === "NodePool");
  const hasClass = own.some(isEc2NodeClass);
  const given = poolObjects(clusterName).filter(({ kind }) => (kind === "EC2NodeClass" ? !hasClass : !hasPools));
  return { pools: [...given, ...own], workload, networkTags: own.filter(isEc2NodeClass).flatMap(tagsSelected) };
}

function isPoolObject({ apiVersion = "" }: KubeObject): boolean {
  return apiVersion.startsWith("karpenter.");
}

function isEc2NodeClass(object: KubeObject): object is Ec2NodeClass {
  return object.kind === "EC2NodeClass";
}

/** A wildcard is content with its own text. */
function tagsSelected({ spec }: Ec2NodeClass): Tag[] {
  const terms = [...(spec?.subnetSelectorTerms ?? []), ...(spec?.securityGroupSelectorTerms ?? [])];
  return terms.flatMap(({ tags = {} }) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value })));
}
