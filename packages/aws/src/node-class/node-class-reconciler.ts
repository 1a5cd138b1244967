/** One pass over an EC2NodeClass: finalizer, status, hash; or its end, once no NodeClaim needs it. Rules W-200…W-203, W-300, W-301, W-320. */
import {
  EC2_NODE_CLASS_FINALIZER,
  EC2_NODE_CLASS_HASHES,
  type Ec2NodeClass,
  Ec2NodeClasses,
  ec2NodeClassHash,
  hashAnnotations,
  migratedAnnotations,
  type NodeClaim,
  NodeClaims,
} from "@joinery/api";
import {
  hasFinalizer,
  isDeleting,
  isNotFound,
  type KubeClient,
  lockedPatch,
  openPatch,
  type Patch,
  withAnnotations,
  withFinalizer,
  withoutFinalizer,
} from "@joinery/kube";
import type { LaunchTemplates } from "../launch/launch-templates.ts";
import { resolveStatus, type StatusRooms } from "./node-class-status.ts";

export interface ReconcilerRooms extends StatusRooms {
  readonly client: KubeClient;
  readonly templates: LaunchTemplates;
  /** NodeClaims that refer to the node class. */
  readonly claimsOf: (nodeClassName: string) => readonly NodeClaim[];
  /** Told what the server answered to a write, so that nobody works with what is out of date. */
  readonly onWritten?: (nodeClass: Ec2NodeClass) => void;
  /** Told once per pass while NodeClaims keep a node class from going. */
  readonly onWaiting?: (nodeClass: Ec2NodeClass, message: string) => void;
}

/** As core's Step: look again then, or rest until something changes. */
export type NodeClassStep = { readonly kind: "asleep" } | { readonly kind: "again"; readonly afterMs: number };

const WAIT_FOR_CLAIMS_MS = 600_000;
const NAMED_CLAIMS_MAX = 5;

/** Throws to be tried again with back-off; what could be found out is written all the same. */
export async function reconcileNodeClass(nodeClass: Ec2NodeClass, rooms: ReconcilerRooms, signal?: AbortSignal): Promise<NodeClassStep> {
  if (isDeleting(nodeClass)) return finalize(nodeClass, rooms, signal);
  const guarded = await write(nodeClass, withFinalizer(nodeClass, EC2_NODE_CLASS_FINALIZER), rooms, { locked: true }, signal);
  const outcome = await resolveStatus(guarded, rooms, signal);
  const resolved = await write(guarded, outcome.nodeClass, rooms, { locked: true, subresource: "status" }, signal);
  await keepHash(resolved, rooms, signal);
  if (outcome.errors.length > 0)
    throw new AggregateError(outcome.errors, `resolving ${nodeClass.metadata?.name}: ${outcome.errors.map(String).join("; ")}`);
  return { kind: "again", afterMs: outcome.againMs };
}

/** W-300, W-301. */
async function keepHash(nodeClass: Ec2NodeClass, rooms: ReconcilerRooms, signal: AbortSignal | undefined): Promise<Ec2NodeClass> {
  if (nodeClass.spec === undefined) return nodeClass;
  const { caBundle } = await rooms.cluster.get(signal);
  const hash = ec2NodeClassHash(nodeClass.spec, caBundle);
  const own = nodeClass.metadata?.annotations;
  for (const claim of rooms.claimsOf(nodeClass.metadata?.name ?? "")) {
    const change = migratedAnnotations(EC2_NODE_CLASS_HASHES, own, hash, claim.metadata?.annotations, claim.status?.conditions);
    const patch = change === undefined ? undefined : openPatch(claim, withAnnotations(claim, change));
    if (patch !== undefined) await patchIfThere(() => rooms.client.patch(NodeClaims, keyOf(claim), patch, {}, signal));
  }
  return write(nodeClass, withAnnotations(nodeClass, hashAnnotations(EC2_NODE_CLASS_HASHES, hash)), rooms, { locked: false }, signal);
}

/** W-320. A failure keeps the finalizer. */
async function finalize(nodeClass: Ec2NodeClass, rooms: ReconcilerRooms, signal: AbortSignal | undefined): Promise<NodeClassStep> {
  if (!hasFinalizer(nodeClass, EC2_NODE_CLASS_FINALIZER)) return { kind: "asleep" };
  const name = nodeClass.metadata?.name ?? "";
  const claims = rooms.claimsOf(name);
  if (claims.length > 0) {
    rooms.onWaiting?.(nodeClass, `Waiting on NodeClaim termination for ${namesOf(claims)}`);
    return { kind: "again", afterMs: WAIT_FOR_CLAIMS_MS };
  }
  await rooms.profiles.removeAll(nodeClass, signal);
  await rooms.templates.removeAll(name, signal);
  await write(nodeClass, withoutFinalizer(nodeClass, EC2_NODE_CLASS_FINALIZER), rooms, { locked: true }, signal);
  return { kind: "asleep" };
}

function namesOf(claims: readonly NodeClaim[]): string {
  const names = claims.map(({ metadata }) => metadata?.name ?? "").sort();
  const rest = names.length - NAMED_CLAIMS_MAX;
  return `${names.slice(0, NAMED_CLAIMS_MAX).join(", ")}${rest > 0 ? ` and ${rest} other(s)` : ""}`;
}

interface WriteOptions {
  readonly locked: boolean;
  readonly subresource?: string;
}

/** Only what differs; nothing where nothing does, or where the object is gone. */
async function write(
  before: Ec2NodeClass,
  after: Ec2NodeClass,
  rooms: ReconcilerRooms,
  { locked, subresource }: WriteOptions,
  signal: AbortSignal | undefined,
): Promise<Ec2NodeClass> {
  const patch: Patch | undefined = locked ? lockedPatch(before, after) : openPatch(before, after);
  if (patch === undefined) return before;
  const written = await patchIfThere(() => rooms.client.patch(Ec2NodeClasses, keyOf(before), patch, { subresource }, signal));
  if (written !== undefined) rooms.onWritten?.(written);
  return written ?? after;
}

async function patchIfThere<T>(patch: () => Promise<T>): Promise<T | undefined> {
  try {
    return await patch();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function keyOf({ metadata }: Ec2NodeClass | NodeClaim): { readonly name: string } {
  return { name: metadata?.name ?? "" };
}
