/** The hash of what makes a NodePool's nodes drift: its template without requirements. Rules …A-133. */
import { parseDuration, parseNillableDuration } from "../duration.ts";
import type { Taint } from "../kubernetes/pod.ts";
import type { NodePool } from "../owned/node-pool.ts";
import { type Hash, hashInt64, hashList, hashMap, hashStructure, hashText, present } from "./structure-hash.ts";

/** */
export const NODE_POOL_HASH_VERSION = "v3";

type Template = NodePool["spec"]["template"];

/** Unsigned 64-bit decimal text. The pool must carry its defaults. */
export function nodePoolHash({ spec: { template } }: NodePool): string {
  const { metadata } = template;
  const hasMetadata = metadata?.labels !== undefined || metadata?.annotations !== undefined;
  const objectMeta = hashStructure("ObjectMeta", [
    ["Labels", present(metadata?.labels, hashMap)],
    ["Annotations", present(metadata?.annotations, hashMap)],
  ]);
  const hash = hashStructure("NodeClaimTemplate", [
    ["ObjectMeta", hasMetadata ? objectMeta : undefined],
    ["Spec", templateSpec(template.spec)],
  ]);
  return String(hash);
}

function templateSpec(spec: Template["spec"]): Hash {
  return hashStructure("NodeClaimTemplateSpec", [
    ["Taints", present(spec.taints, taints)],
    ["StartupTaints", present(spec.startupTaints, taints)],
    ["NodeClassRef", nodeClassRef(spec.nodeClassRef)],
    ["TerminationGracePeriod", present(spec.terminationGracePeriod, gracePeriod)],
    ["ExpireAfter", present(spec.expireAfter, expireAfter)],
  ]);
}

const taints = (list: readonly Taint[]): Hash => hashList(list.map(taint));

/** The time of a taint is left out: Karpenter's hash of it depends on the controller's time zone. */
function taint({ key, value, effect }: Taint): Hash {
  return hashStructure("Taint", [
    ["Key", nonEmpty(key)],
    ["Value", nonEmpty(value)],
    ["Effect", nonEmpty(effect)],
  ]);
}

function nodeClassRef({ kind, name, group }: Template["spec"]["nodeClassRef"]): Hash {
  return hashStructure("NodeClassReference", [
    ["Kind", nonEmpty(kind)],
    ["Name", nonEmpty(name)],
    ["Group", nonEmpty(group)],
  ]);
}

function gracePeriod(text: string): Hash {
  const nanos = parseDuration(text) ?? 0n;
  return hashStructure("Duration", [["Duration", nanos === 0n ? undefined : hashInt64(nanos)]]);
}

/** `Never` is no duration, and so no field at all. */
function expireAfter(text: string): Hash | undefined {
  const nanos = parseNillableDuration(text);
  return nanos === "Never" || nanos === undefined ? undefined : hashStructure("NillableDuration", [["Duration", hashInt64(nanos)]]);
}

const nonEmpty = (text: string | undefined): Hash | undefined => (text === undefined || text === "" ? undefined : hashText(text));
