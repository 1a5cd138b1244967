/** Pods of workloads are created here, so that a refusal (a LimitRange, an unknown priority class) is told where its owner is described. */
import { type KubeObject, type Pod, Pods } from "@joinery/api";
import { ApiError, type KubeClient } from "@joinery/kube";
import type { EventSink } from "../world/event-sink.ts";

export interface PodCreator {
  readonly client: KubeClient;
  readonly events: EventSink;
}

/** 403 of admission, 422 of validation. */
const REFUSALS: ReadonlySet<number> = new Set([403, 422]);

/** Throws what the server answered; of a refusal the owner has an event by then. */
export async function createPodOf(owner: KubeObject, pod: Pod, { client, events }: PodCreator): Promise<Pod> {
  try {
    return await client.create(Pods, pod);
  } catch (error) {
    if (error instanceof ApiError && REFUSALS.has(error.status) && !isTerminating(error)) {
      const message = `Error creating: ${withoutSuffix(error.message, pod.metadata ?? {})}`;
      events.publish(owner, { type: "Warning", reason: "FailedCreate", message });
    }
    throw error;
  }
}

/** A namespace that goes refuses everything; its workloads go, too. */
function isTerminating({ details }: ApiError): boolean {
  return (details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}

/** Each attempt draws another name, unless the pod has one; without it all attempts are one event that counts. */
function withoutSuffix(message: string, { name = "", generateName = "" }: NonNullable<Pod["metadata"]>): string {
  const at = name === "" && generateName !== "" ? message.indexOf(`"${generateName}`) : -1;
  const end = at < 0 ? -1 : message.indexOf('"', at + 1);
  return end < 0 ? message : `${message.slice(0, at)}"${generateName}"${message.slice(end + 1)}`;
}
