/** Namespaces: a default ServiceAccount in each, and everything inside deleted before one goes. */
import { type Condition, type Kind, type KubeObject, kind, Namespaces } from "@joinery/api";
import { isAlreadyExists, isNotFound, type KubeClient, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { type ConditionWish, withCondition } from "./condition-list.ts";
import { writeStatus } from "./status-writer.ts";

export const ServiceAccounts = kind<KubeObject>("", "v1", "ServiceAccount", "serviceaccounts", true);

const NAMESPACE_FINALIZER = "kubernetes";
/** Pods need their grace period: looked at again after so long, and at once when a pod of the namespace goes. */
const CONTENT_RECHECK_MS = 5_000;

export function startNamespaces(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("namespace-controller");

  async function reconcile(name: string): Promise<number | undefined> {
    const namespace = views.namespaces.find(name);
    if (namespace === undefined) {
      return undefined;
    }
    if (namespace.metadata?.deletionTimestamp === undefined) {
      await ensureServiceAccount(name);
      return undefined;
    }
    if (!(namespace.spec?.finalizers ?? []).includes(NAMESPACE_FINALIZER)) {
      return undefined;
    }
    const left = await emptyNamespace(client, name);
    const latest = await client.find(Namespaces, { name });
    if (latest === undefined) {
      return undefined;
    }
    if (left.size > 0) {
      const before = (latest.status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions;
      const conditions = contentConditions(left).reduce((all, wish) => withCondition(all, wish, clock.wallMs()), before ?? []);
      await writeStatus(client, Namespaces, latest, { phase: "Terminating", conditions });
      return CONTENT_RECHECK_MS;
    }
    const finalizers = (latest.spec?.finalizers ?? []).filter((finalizer) => finalizer !== NAMESPACE_FINALIZER);
    await client
      .replace(Namespaces, { ...latest, spec: { ...latest.spec, finalizers } }, { subresource: "finalize" })
      .catch((error: unknown) => {
        if (!isNotFound(error)) {
          throw error;
        }
      });
    return undefined;
  }

  async function ensureServiceAccount(namespace: string): Promise<void> {
    if (views.serviceAccounts.find(`${namespace}/default`) !== undefined) {
      return;
    }
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
    try {
      views.serviceAccounts.wrote(await client.create(ServiceAccounts, account));
    } catch (error) {
      if (!isAlreadyExists(error) && !isNotFound(error)) {
        throw error;
      }
    }
  }

  const loop = startWorkLoop({ name: "namespace-controller", context, reconcile });
  views.namespaces.onChange((change) => {
    if (change.type !== "deleted") {
      loop.add(change.object.metadata?.name ?? "");
    }
  });
  views.serviceAccounts.onChange((change) => {
    if (change.type === "deleted" && change.object.metadata?.name === "default") {
      loop.add(change.object.metadata.namespace ?? "");
    }
  });
  views.pods.onChange((change) => {
    const name = change.object.metadata?.namespace ?? "";
    if (change.type === "deleted" && views.namespaces.find(name)?.metadata?.deletionTimestamp !== undefined) {
      loop.add(name);
    }
  });
}

/** What is left of a resource, e.g. `configmaps.`: how many, and which finalizers hold how many of them. */
interface Remains {
  readonly count: number;
  readonly finalizers: ReadonlyMap<string, number>;
}

/** What `kubectl describe namespace` shows of a deletion that takes time. */
function contentConditions(left: ReadonlyMap<string, Remains>): readonly ConditionWish[] {
  const fine = (type: string, reason: string, message: string) => ({ type, status: "False", reason, message }) as const;
  const counts = [...left].map(([name, { count }]) => `${name} has ${count} resource instances`).sort();
  const held = new Map<string, number>();
  for (const { finalizers } of left.values()) {
    for (const [name, count] of finalizers) {
      held.set(name, (held.get(name) ?? 0) + count);
    }
  }
  const holders = [...held].map(([name, count]) => `${name} in ${count} resource instances`).sort();
  return [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    fine("NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    {
      type: "NamespaceContentRemaining",
      status: "True",
      reason: "SomeResourcesRemain",
      message: `Some resources are remaining: ${counts.join(", ")}`,
    },
    holders.length === 0
      ? fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
      : {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${holders.join(", ")}`,
        },
  ];
}

/** Deletes everything in the namespace; says what is left of it. */
async function emptyNamespace(client: KubeClient, namespace: string): Promise<ReadonlyMap<string, Remains>> {
  let count = 0;
  for (const resource of await namespacedKinds(client)) {
    for await (const object of client.listAll(resource, { namespace })) {
      count += 1;
      if (object.metadata?.deletionTimestamp === undefined) {
        await client
          .delete(resource, parseKey(keyOf(object)), { uid: object.metadata?.uid, propagationPolicy: "Background" })
          .catch((error: unknown) => {
            if (!isNotFound(error)) {
              throw error;
            }
          });
      }
    }
  }
  return count === 0 ? new Map() : remainsOf(client, namespace);
}

async function remainsOf(client: KubeClient, namespace: string): Promise<ReadonlyMap<string, Remains>> {
  const left = new Map<string, Remains>();
  for (const resource of await namespacedKinds(client)) {
    const { items } = await client.list(resource, { namespace });
    if (items.length > 0) {
      const finalizers = new Map<string, number>();
      for (const name of items.flatMap(({ metadata }) => metadata?.finalizers ?? [])) {
        finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
      }
      left.set(`${resource.resource}.${resource.group}`, { count: items.length, finalizers });
    }
  }
  return left;
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs?: readonly string[];
  }[];
}

async function namespacedKinds(client: KubeClient): Promise<readonly Kind[]> {
  const groups = (await client.raw("/apis")) as {
    readonly groups?: readonly { readonly preferredVersion?: { readonly groupVersion: string } }[];
  };
  const paths = [
    "/api/v1",
    ...(groups.groups ?? []).flatMap(({ preferredVersion }) =>
      preferredVersion === undefined ? [] : [`/apis/${preferredVersion.groupVersion}`],
    ),
  ];
  const kinds: Kind[] = [];
  for (const path of paths) {
    const { groupVersion, resources = [] } = (await client.raw(path)) as ResourceList;
    const [group = "", version = ""] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
    for (const resource of resources) {
      const isDeletable = (resource.verbs ?? []).includes("delete") && (resource.verbs ?? []).includes("list");
      if (resource.namespaced && isDeletable && !resource.name.includes("/")) {
        kinds.push(kind(group, version, resource.kind, resource.name, true));
      }
    }
  }
  return kinds;
}
