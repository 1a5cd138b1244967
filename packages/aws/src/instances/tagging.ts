/** Once a NodeClaim has its Node, the instance is tagged with both names, so that people find it in the console. Rules W-730…W-732. */
import {
  CLUSTER_NAME_TAGGED_ANNOTATION,
  Ec2NodeClasses,
  EKS_CLUSTER_NAME_TAG,
  NODE_CLAIM_TAG,
  type NodeClaim,
  NodeClaims,
  TAGGED_ANNOTATION,
} from "@joinery/api";
import { type Clock, createWorkQueue, isNotFound, type KubeClient, openPatch, withAnnotations } from "@joinery/kube";
import type { ControllerRooms, ProviderController } from "../controllers.ts";
import { isAwsNotFound } from "../ec2/aws-error.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import { instanceIdOf } from "./instance-view.ts";
import type { Instances } from "./instances.ts";

export interface TaggingOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly ec2: Ec2Port;
  readonly instances: Instances;
  readonly clusterName: string;
}

/** EC2 throttles CreateTags early: never more than one a second. */
const PAUSE_MS = 1_000;
const DONE = { [TAGGED_ANNOTATION]: "true", [CLUSTER_NAME_TAGGED_ANNOTATION]: "true" };

export function createTaggingController(options: TaggingOptions, { nodeClaims, onError }: ControllerRooms): ProviderController {
  const { clock } = options;
  const name = "nodeclaim.tagging";
  return {
    name,
    async run(signal) {
      const queue = createWorkQueue({
        clock,
        concurrency: 1,
        onError: (key, error) => onError?.(name, key, error),
        async work(key, workSignal) {
          const claim = nodeClaims.find(key);
          if (claim !== undefined && isWaitingForTags(claim)) await tag(claim, options, workSignal);
          return undefined;
        },
      });
      const wake = (claim: NodeClaim) => {
        if (isWaitingForTags(claim)) queue.add(claim.metadata?.name ?? "");
      };
      const stop = nodeClaims.onChange(({ type, object }) => {
        if (type !== "deleted") wake(object);
      });
      for (const claim of nodeClaims.values()) wake(claim);
      try {
        await queue.run(signal);
      } finally {
        stop();
      }
    },
  };
}

/** W-730. */
function isWaitingForTags({ metadata, spec, status }: NodeClaim): boolean {
  const isOurs = spec.nodeClassRef.group === Ec2NodeClasses.group && spec.nodeClassRef.kind === Ec2NodeClasses.kind;
  const isTagged = Object.keys(DONE).every((key) => metadata?.annotations?.[key] === "true");
  return isOurs && !isTagged && metadata?.deletionTimestamp === undefined && (status?.nodeName ?? "") !== "";
}

/** W-731: a tag that is there already stays as it is, whoever set it. */
async function tag(claim: NodeClaim, { client, clock, ec2, instances, clusterName }: TaggingOptions, signal: AbortSignal): Promise<void> {
  const id = instanceIdOf(claim.status?.providerID ?? "");
  const instance = id === undefined ? undefined : await instances.describe(id, signal);
  if (id === undefined || instance === undefined) return;
  const wanted = { Name: claim.status?.nodeName ?? "", [NODE_CLAIM_TAG]: claim.metadata?.name ?? "", [EKS_CLUSTER_NAME_TAG]: clusterName };
  const held = new Set(instance.Tags?.map(({ Key }) => Key));
  const Tags = Object.entries(wanted).flatMap(([Key, Value]) => (held.has(Key) ? [] : [{ Key, Value }]));
  if (Tags.length > 0) {
    try {
      await ec2.createTags({ Resources: [id], Tags }, signal);
    } catch (error) {
      if (isAwsNotFound(error)) return;
      throw error;
    }
    await clock.sleep(PAUSE_MS, signal);
  }
  const patch = openPatch(claim, withAnnotations(claim, DONE));
  if (patch === undefined) return;
  try {
    await client.patch(NodeClaims, { name: claim.metadata?.name ?? "" }, patch, {}, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
