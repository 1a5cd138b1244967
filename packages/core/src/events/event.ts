/** What the loops tell people through Kubernetes Events. Rules L-21, O-242…O-245. */
import { apiVersionOf, type Kind, type KubeObject } from "@joinery/api";

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface CoreEvent {
  readonly subject: EventSubject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** With the reason, the key under which the event is told once per window. The message is no part of it (O-243). */
  readonly dedupe: readonly string[];
  /** O-243: two minutes unless said otherwise. */
  readonly windowMs?: number;
  /** Events of one bucket share five a second, ten at once (O-245, V-94). */
  readonly bucket?: string;
}

export interface EventSink {
  publish(event: CoreEvent): void;
}

/** What the event is about. */
export function subjectOf(kind: Kind, { metadata }: KubeObject): EventSubject {
  const { name = "", namespace, uid } = metadata ?? {};
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, ...(namespace && { namespace }), ...(uid && { uid }) };
}
