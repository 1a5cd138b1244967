/** Kubernetes Events of the control plane's parts: the same event again raises its count. Written behind the caller, in order. */
import type { KubeEvent, KubeObject } from "@joinery/api";
import { Events } from "@joinery/api";
import { type Clock, isNotFound, type KubeClient } from "@joinery/kube";
import { fnv1a32 } from "../controllers/fnv.ts";
import { isOvertaken } from "./work-loop.ts";

export interface EventSink {
  publish(about: KubeObject, event: { readonly type?: "Normal" | "Warning"; readonly reason: string; readonly message: string }): void;
}

export interface EventSinkOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly component: string;
  readonly report: (component: string, key: string, error: unknown) => void;
}

interface Sent {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
}

/** How many events are remembered for counting; beyond it the oldest start again at 1. */
const REMEMBERED_MAX = 4096;

export function createEventSink({ client, clock, component, report }: EventSinkOptions): EventSink {
  const sent = new Map<string, Sent>();
  let tail: Promise<void> = Promise.resolve();
  let serial = 0;

  async function write(about: KubeObject, key: string, type: "Normal" | "Warning", reason: string, message: string): Promise<void> {
    const now = new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z");
    const known = sent.get(key);
    if (known !== undefined && (await countAgain(key, known, now))) {
      return;
    }
    serial += 1;
    const suffix = fnv1a32(`${component}/${key}/${serial}`).toString(16).padStart(8, "0");
    const namespace = about.metadata?.namespace ?? "default";
    const name = `${about.metadata?.name ?? ""}.${suffix}${serial.toString(16).padStart(8, "0")}`;
    const event: KubeEvent = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name: about.metadata?.name,
        namespace: about.metadata?.namespace,
        uid: about.metadata?.uid,
      },
      reason,
      message,
      type,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component },
      reportingComponent: component,
    };
    await client.create(Events, event);
    sent.set(key, { name, namespace, count: 1 });
    if (sent.size > REMEMBERED_MAX) {
      sent.delete(sent.keys().next().value ?? "");
    }
  }

  /** False when the event has expired in the meantime: then it is a new one. */
  async function countAgain(key: string, known: Sent, now: string): Promise<boolean> {
    const count = known.count + 1;
    try {
      await client.patch(Events, known, { type: "merge", body: { count, lastTimestamp: now } });
    } catch (error) {
      if (isNotFound(error)) {
        return false;
      }
      throw error;
    }
    sent.set(key, { ...known, count });
    return true;
  }

  return {
    publish(about, { type = "Normal", reason, message }) {
      const key = `${about.metadata?.uid}/${type}/${reason}/${message}`;
      tail = tail
        .then(() => write(about, key, type, reason, message))
        .catch((error: unknown) => {
          sent.delete(key);
          // Nobody reads the events of what is gone.
          if (!isOvertaken(error)) {
            report(component, `event ${reason}`, error);
          }
        });
    },
  };
}
