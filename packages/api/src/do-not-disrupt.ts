/** The annotation that keeps a pod's node from being disrupted. Rules. */
import { parseGoDuration } from "./duration.ts";
import type { KubeObject } from "./kubernetes/meta.ts";
import { DO_NOT_DISRUPT_ANNOTATION } from "./labels.ts";

export type DoNotDisrupt =
  | { readonly kind: "absent" }
  /** The text says nothing; worth a Warning event. */
  | { readonly kind: "invalid"; readonly text: string }
  /** `true`, or a duration whose start is not known yet. */
  | { readonly kind: "active" }
  | { readonly kind: "active-until"; readonly untilMs: number }
  | { readonly kind: "elapsed"; readonly untilMs: number };

/**
 * What the annotation of a pod means now.
 * @param text its value; undefined where the pod has none
 * @param startedAtMs undefined before the kubelet has started the pod
 */
export function doNotDisrupt(text: string | undefined, startedAtMs: number | undefined, nowMs: number): DoNotDisrupt {
  if (text === undefined) return { kind: "absent" };
  if (text === "true") return { kind: "active" };
  const nanos = parseGoDuration(text);
  if (nanos === undefined || nanos <= 0n) return { kind: "invalid", text };
  if (startedAtMs === undefined) return { kind: "active" };
  const untilMs = startedAtMs + Number((nanos + 999_999n) / 1_000_000n);
  return { kind: nowMs < untilMs ? "active-until" : "elapsed", untilMs };
}

/** Nodes and NodeClaims: only exactly `true` counts. */
export function isNotToBeDisrupted({ metadata }: KubeObject): boolean {
  return metadata?.annotations?.[DO_NOT_DISRUPT_ANNOTATION] === "true";
}
