/** Events on their way to the API server. Rules L-21, O-242…O-247, V-94. */
import type { Clock, KubeClient, Random } from "@joinery/kube";
import { createEventRecorder } from "@joinery/kube";
import type { Logger } from "../logger.ts";
import { messageOf } from "../runtime/answers.ts";
import type { EventSink } from "./event.ts";

export function createEventSink(
  kube: KubeClient,
  { clock, random, log }: { readonly clock: Clock; readonly random: Random; readonly log: Logger },
): EventSink {
  const recorder = createEventRecorder({
    client: kube,
    clock,
    random,
    onError: (error, { reason, subject }) => log.debug({ error: messageOf(error), reason, subject }, "cannot record event"),
  });
  return {
    publish({ subject, type, reason, message, dedupe, windowMs, bucket }) {
      recorder.publish({ subject, type, reason, message, dedupeValues: dedupe, dedupeMs: windowMs, bucket });
    },
  };
}
