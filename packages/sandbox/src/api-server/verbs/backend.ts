/** What every verb works on. */
import { formatTime, type Pod } from "@joinery/api";
import type { Clock, Random } from "@joinery/kube";
import type { ApiObject } from "../objects/json.ts";
import type { Registry } from "../registry/registry.ts";
import type { Resource, RuleContext } from "../registry/resource.ts";
import type { Store } from "../storage/store.ts";
import type { Target } from "../wire/target.ts";
import type { ContainerLog } from "./container-log.ts";

export interface Backend extends RuleContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** The sandbox's admission of new pods, after the built-in one (EKS Fargate's webhook). Gives the pod as it is to be. */
  readonly admitPod?: (pod: Pod) => Pod;
  /** The log of a container that is a real process, of its current or its previous run. */
  readonly containerLog?: FindContainerLog;
  readonly beforeRead?: BeforeRead;
}

/**
 * Called before objects are read (not before they are watched), for what is kept up to date only for readers.
 * @param id of the collection, e.g. `coordination.k8s.io/leases`
 */
export type BeforeRead = (id: string, target: Pick<Target, "namespace" | "name">) => void;

export type FindContainerLog = (pod: Pod, container: string, previous: boolean) => ContainerLog | undefined;

/** A request whose resource is known. */
export interface Call {
  readonly resource: Resource;
  readonly target: Target;
  readonly query: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly contentType: string;
  readonly body: unknown;
  /** Goes into the `Warning` headers of the answer. */
  readonly warnings: string[];
  /** Whether the caller sees who owns which fields: always over HTTP, in process once somebody applied. */
  readonly tracksFields: boolean;
}

export function createBackend(
  store: Store,
  registry: Registry,
  clock: Clock,
  random: Random,
  seams: Pick<Backend, "admitPod" | "containerLog" | "beforeRead"> = {},
): Backend {
  return {
    store,
    registry,
    clock,
    random,
    ...(seams.admitPod === undefined ? {} : { admitPod: seams.admitPod }),
    ...(seams.containerLog === undefined ? {} : { containerLog: seams.containerLog }),
    ...(seams.beforeRead === undefined ? {} : { beforeRead: seams.beforeRead }),
    nowText: () => formatTime(clock.wallMs()),
    find: (id: string, key: string): ApiObject | undefined => store.collection(id).find(key),
    values: (id: string): Iterable<ApiObject> => store.collection(id).values(),
  };
}

export function isTrue(text: string | undefined): boolean {
  return text === "true" || text === "1" || text === "";
}

/** `dryRun=All`: everything but the write. */
export function isDryRun(call: Call): boolean {
  return (
    call.query.dryRun === "All" ||
    (typeof call.body === "object" && call.body !== null && Array.isArray((call.body as { dryRun?: unknown }).dryRun))
  );
}

/** Who writes, for managedFields: the parameter, else the program's name in the user agent. */
export function fieldManagerOf(call: Call): string {
  return call.query.fieldManager ?? (call.userAgent.split("/")[0] || "unknown");
}
