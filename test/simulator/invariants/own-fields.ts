/**
 * Only its own is written: of Nodes and pods, which others write too, nothing changes but the taints, labels, annotations and finalizer
 * that the controller answers for, and always onto the version that it has read. L-68, L-93, L-94, L-98, L-104, L-128, L-130, V-86, V-87.
 */
import {
  DISRUPTED_TAINT,
  EXCLUDE_FROM_LOAD_BALANCERS_LABEL,
  INITIALIZED_LABEL,
  type KubeObject,
  type Node,
  type NodeClaim,
  type Pod,
  REGISTERED_LABEL,
  type Taint,
  TERMINATION_FINALIZER,
  UNREGISTERED_TAINT,
} from "@joinery/api";
import { isSameTaint } from "@joinery/kube";
import { Violation } from "../violation.ts";

const OWN_LABELS: ReadonlySet<string> = new Set([REGISTERED_LABEL, INITIALIZED_LABEL, EXCLUDE_FROM_LOAD_BALANCERS_LABEL]);
const POD_ANNOTATIONS: ReadonlySet<string> = new Set(["controller.kubernetes.io/pod-deletion-cost"]);

/** A merge patch that the API server has accepted for an object which it had as `before`. Throws a Violation. */
export function checkNodePatch(before: Node, body: Partial<Node>, claim: NodeClaim | undefined): void {
  const wrong = (what: string) => new Violation("only its own is written", `Node ${before.metadata?.name}: ${what}`);
  checkVersion(before, body, wrong);
  const { metadata, spec, ...rest } = body;
  const stray = [...Object.keys(rest), ...Object.keys(spec ?? {}).filter((field) => field !== "taints")];
  if (stray.length > 0) throw wrong(`${stray.join()} is not the controller's`);
  const offered = { ...claim?.metadata?.labels, ...claim?.metadata?.annotations };
  for (const [key, value] of Object.entries({ ...metadata?.labels, ...metadata?.annotations })) {
    if (value === null) throw wrong(`${key} is removed`);
    if (!OWN_LABELS.has(key) && offered[key] !== value) throw wrong(`${key}=${value} is neither its own nor the NodeClaim's`);
  }
  const kept = new Set(metadata?.finalizers ?? before.metadata?.finalizers ?? []);
  const lost = before.metadata?.finalizers?.filter((finalizer) => finalizer !== TERMINATION_FINALIZER && !kept.has(finalizer)) ?? [];
  if (lost.length > 0) throw wrong(`finalizer ${lost.join()} is removed`);
  if (spec?.taints !== undefined) checkTaints(before.spec?.taints ?? [], spec.taints, claim, wrong);
}

function checkTaints(before: readonly Taint[], after: readonly Taint[], claim: NodeClaim | undefined, wrong: (what: string) => Violation) {
  const own = [...(claim?.spec.taints ?? []), ...(claim?.spec.startupTaints ?? []), DISRUPTED_TAINT];
  const isIn = (taints: readonly Taint[], taint: Taint) => taints.some((other) => isSameTaint(other, taint));
  for (const taint of before) {
    if (isIn(after, taint) || isSameTaint(taint, UNREGISTERED_TAINT) || taint.key === DISRUPTED_TAINT.key) continue;
    throw wrong(`taint ${taint.key}:${taint.effect} of somebody else is removed`);
  }
  for (const taint of after) if (!isIn(before, taint) && !isIn(own, taint)) throw wrong(`taint ${taint.key}:${taint.effect} is added`);
}

/** As `checkNodePatch`, for a pod. */
export function checkPodPatch(before: Pod, body: Partial<Pod>): void {
  const wrong = (what: string) => new Violation("only its own is written", `pod ${before.metadata?.name}: ${what}`);
  checkVersion(before, body, wrong);
  const { resourceVersion: _, annotations = {}, ...more } = body.metadata ?? {};
  const stray = [...Object.keys(body).filter((field) => field !== "metadata"), ...Object.keys(more)];
  if (stray.length > 0) throw wrong(`${stray.join()} is not the controller's`);
  for (const key of Object.keys(annotations)) if (!POD_ANNOTATIONS.has(key)) throw wrong(`annotation ${key} is not the controller's`);
  const controller = before.metadata?.ownerReferences?.find((owner) => owner.controller);
  if (controller?.kind !== "ReplicaSet") throw wrong(`it is a ${controller?.kind ?? "bare"} pod, and gets a deletion cost`);
}

function checkVersion(before: KubeObject, body: KubeObject, wrong: (what: string) => Violation): void {
  const version = body.metadata?.resourceVersion;
  if (version === undefined) throw wrong("it is changed whatever its version is");
  if (version !== before.metadata?.resourceVersion)
    throw wrong(`version ${version} is changed, and it has version ${before.metadata?.resourceVersion}`);
}
