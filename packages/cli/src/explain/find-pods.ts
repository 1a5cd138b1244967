/** Which pods a name on the command line means: one pod, or those of a workload. */
import { type Pod, Pods } from "@joinery/api";
import { nearestWords } from "@joinery/scheduling";
import { CommandError, exitStatus } from "../exit-status.ts";
import type { Question } from "../plan/make-plan.ts";
import { virtualPodObjects } from "../plan/planned-buffers.ts";
import { type Owner, ownerOf } from "./owner.ts";
import { isNamed, whyNoPods } from "./without-pods.ts";

export interface FoundPods {
  /** The pod's own, or the workload's. */
  readonly owner: Owner;
  /** At least one. */
  readonly pods: readonly Pod[];
}

const NAMES_SHOWN = 3;

/** @param name `name` or `namespace/name`; a pod goes before a workload of the same name */
export function findPods(name: string, { source, objects, buffers }: Question): FoundPods {
  const pods = [...objects.of(Pods), ...virtualPodObjects(buffers)];
  const own = pods.filter((pod) => isNamed(name, pod.metadata?.namespace, pod.metadata?.name));
  if (own.length > 0)
    return { pods: [only(own, name, (pod) => `${pod.metadata?.namespace}/${pod.metadata?.name}`)], owner: ownerOf(own[0]!, source) };
  const owners = pods.map((pod) => ({ pod, owner: ownerOf(pod, source) }));
  const named = owners.filter(({ owner }) => isNamed(name, owner.namespace, owner.name));
  const owned = named.length > 0 ? named : owners.filter(({ owner }) => isOfKind(name, owner));
  if (owned.length > 0) {
    const byOwner = Map.groupBy(owned, ({ owner }) => `${owner.namespace}/${owner.kind}/${owner.name}`);
    const group = byOwner.get(only([...byOwner.keys()], name, (key) => key))!;
    return { owner: group[0]!.owner, pods: group.map(({ pod }) => pod) };
  }
  const why = whyNoPods(name, source, buffers);
  if (why !== undefined) throw new CommandError(why, exitStatus.notFound);
  const isQualified = name.includes("/");
  const known = owners.flatMap(({ pod, owner }) =>
    [owner.name, pod.metadata?.name ?? ""].map((one) => (isQualified ? `${owner.namespace}/${one}` : one)),
  );
  throw notFound("pod or workload with pods", name, known);
}

export function notFound(what: string, name: string, known: readonly string[]): CommandError {
  const near = nearestWords(name, known, NAMES_SHOWN);
  const hint = near.length === 0 ? "the input has none" : `the nearest names are ${near.join(", ")}`;
  return new CommandError(`there is no ${what} "${name}" in the input; ${hint}`, exitStatus.notFound);
}

const SHORT_KINDS: Readonly<Record<string, string>> = {
  deploy: "deployment",
  rs: "replicaset",
  sts: "statefulset",
  rc: "replicationcontroller",
};

/** `deploy/web`, as kubectl names objects. */
function isOfKind(name: string, owner: Owner): boolean {
  const [kind = "", own] = name.toLowerCase().split("/");
  return own === owner.name && (SHORT_KINDS[kind] ?? kind) === owner.kind.toLowerCase();
}

function only<T>(found: readonly T[], name: string, text: (one: T) => string): T {
  if (found.length === 1) return found[0]!;
  throw new CommandError(`"${name}" may be ${found.map(text).join(", ")}; say which with namespace/name`, exitStatus.badInput);
}
