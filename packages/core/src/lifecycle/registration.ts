/** A Node has appeared: it becomes ours. Rules L-90…L-100. */
import {
  DO_NOT_SYNC_TAINTS_LABEL,
  type Node,
  type NodeClaim,
  type OwnerReference,
  REGISTERED_LABEL,
  type Taint,
  TERMINATION_FINALIZER,
  UNREGISTERED_TAINT,
} from "@joinery/api";
import { isSameTaint } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { again, asleep, type Step } from "../runtime/step.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { unregisteredTaintMissing } from "./events.ts";
import { nodesOf } from "./nodes-of.ts";
import { done, type PhaseResult } from "./phase.ts";

/**
 * @param storedId the provider ID that the API server has. A Node is let in for no other: if the process died before the NodeClaim
 *   knows its instance, pods would run on a Node of nobody, which is not ended with its instance.
 */
export async function register(claim: NodeClaim, storedId: string | undefined, rooms: Rooms, signal: AbortSignal): Promise<PhaseResult> {
  const { clock, caches, events, log } = rooms;
  const condition = claimCondition(claim, "Registered");
  if (condition.status !== "Unknown") return done(setClaimCondition(claim, condition, clock.wallMs()));
  const nodes = claim.status?.providerID === storedId ? nodesOf(claim, caches) : [];
  if (nodes.length === 0) return done(waiting(claim, "NodeNotFound", "Node not registered with cluster"));
  if (nodes.length > 1) {
    const message = "Invariant violated, matched multiple nodes";
    return done(setClaimCondition(claim, { type: "Registered", status: "False", reason: "MultipleNodesFound", message }, clock.wallMs()));
  }
  const node = nodes[0]!;
  if (node.metadata.labels?.[REGISTERED_LABEL] === undefined && !node.taints.some((taint) => isSameTaint(taint, UNREGISTERED_TAINT))) {
    log.error(
      { NodeClaim: { name: claim.metadata?.name } },
      "missing taint prevents registration-related race conditions on managed nodes",
    );
    events.publish(unregisteredTaintMissing(claim));
  }
  const hooks = await askHooks(claim, rooms, signal);
  await rooms.writes.patchNode(node, nodePatch(node, hooks.claim, hooks.waitingFor.length === 0), signal);
  if (hooks.waitingFor.length > 0) {
    const pending = waiting(hooks.claim, "RegistrationHookPending", hooks.waitingFor.join(", "));
    return { claim: pending, step: hooks.step, error: hooks.error };
  }
  await rooms.health.recordSuccess(hooks.claim, signal);
  const registered = { ...hooks.claim, status: { ...hooks.claim.status, nodeName: node.metadata.name } };
  return done(setClaimCondition(registered, { type: "Registered", status: "True" }, clock.wallMs()));

  function waiting(of: NodeClaim, reason: string, message: string): NodeClaim {
    return setClaimCondition(of, { type: "Registered", status: "Unknown", reason, message }, clock.wallMs());
  }
}

/** L-93, L-94, L-98: what a Node gets from its NodeClaim; only what differs. */
function nodePatch(node: NodeRecord, claim: NodeClaim, isReady: boolean): Partial<Node> {
  const { metadata } = node;
  const labels = { ...claim.metadata?.labels, ...(isReady && { [REGISTERED_LABEL]: "true" }) };
  const finalizers = metadata.finalizers ?? [];
  const references = metadata.ownerReferences ?? [];
  const owner = ownerReferenceTo(claim);
  const isOwned = references.some(
    ({ apiVersion, kind, uid }) => apiVersion === owner.apiVersion && kind === owner.kind && uid === owner.uid,
  );
  return {
    metadata: {
      labels: different(labels, metadata.labels),
      annotations: different(claim.metadata?.annotations ?? {}, metadata.annotations),
      ...(!finalizers.includes(TERMINATION_FINALIZER) && { finalizers: [...finalizers, TERMINATION_FINALIZER] }),
      ...(!isOwned && { ownerReferences: [...references, owner] }),
    },
    spec: { taints: mergedTaints(node, claim).filter((taint) => !isReady || !isSameTaint(taint, UNREGISTERED_TAINT)) },
  };
}

/** L-94: those of the NodeClaim that the Node has not, whatever their value. */
function mergedTaints({ metadata, taints }: NodeRecord, { spec }: NodeClaim): readonly Taint[] {
  if (metadata.labels?.[DO_NOT_SYNC_TAINTS_LABEL] === "true") return taints;
  const merged = [...taints];
  for (const taint of [...(spec.taints ?? []), ...(spec.startupTaints ?? [])]) {
    if (!merged.some((other) => isSameTaint(other, taint))) merged.push(taint);
  }
  return merged;
}

function ownerReferenceTo({ metadata }: NodeClaim): OwnerReference {
  const { name = "", uid = "" } = metadata ?? {};
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name, uid, blockOwnerDeletion: true };
}

function different(wanted: Readonly<Record<string, string>>, held: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => held[key] !== value));
}

interface HooksAnswer {
  readonly claim: NodeClaim;
  /** Names of hooks that do not let the node in yet, in the order of registration. */
  readonly waitingFor: readonly string[];
  readonly step: Step;
  readonly error?: unknown;
}

/** L-96, L-97: the provider's own conditions for letting a node in. */
async function askHooks(claim: NodeClaim, { provider }: Rooms, signal: AbortSignal): Promise<HooksAnswer> {
  const hooks = provider.registrationHooks ?? [];
  const answers = await Promise.allSettled(hooks.map((hook) => hook.ask(claim, signal)));
  signal.throwIfAborted();
  const waitingFor: string[] = [];
  let changed = claim;
  let step: Step = asleep;
  let error: unknown;
  for (const [at, answer] of answers.entries()) {
    const { name } = hooks[at]!;
    if (answer.status === "rejected") {
      waitingFor.push(name);
      error ??= new Error(`registration hook "${name}" failed, ${messageOf(answer.reason)}`);
    } else if (answer.value.kind === "pending") {
      waitingFor.push(name);
      const { afterMs } = answer.value;
      if (step.kind !== "again" || afterMs < step.afterMs) step = again(afterMs);
    } else if (answer.value.labels !== undefined) {
      changed = { ...changed, metadata: { ...changed.metadata, labels: { ...changed.metadata?.labels, ...answer.value.labels } } };
    }
  }
  return { claim: changed, waitingFor, step, error };
}
