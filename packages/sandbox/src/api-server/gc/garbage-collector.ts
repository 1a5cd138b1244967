/**
 * Deletes what its owners left behind (background), lets owners wait for what blocks them (foreground), and frees what should stay
 * (orphan). It sees changes inside the server and acts through a transport like any controller; it sleeps until something is gone.
 */
import type { Clock, Transport } from "@joinery/kube";
import type { ApiServer } from "../api-server.ts";
import { type ApiObject, type JsonObject, listAt, objectsAt, textAt } from "../objects/json.ts";
import { pathOf } from "../registry/resource.ts";
import type { StoreEvent } from "../storage/store.ts";

export interface GarbageCollectorOptions {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** Between a change and what follows from it; default 100 ms. Also how long a dangling owner may take to appear. */
  readonly delayMs?: number;
}

export interface GarbageCollector {
  start(): void;
  stop(): void;
}

/** An object by where it is. */
interface Place {
  readonly resourceId: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export function createGarbageCollector(options: GarbageCollectorOptions): GarbageCollector {
  const collector = new Collector(options);
  return { start: () => collector.start(), stop: () => collector.stop() };
}

class Collector {
  readonly #server: ApiServer;
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #transport: Transport;
  /** Uids of everything that exists and may own something. */
  readonly #alive = new Map<string, Place>();
  /** Owner uid to its dependents by their uid. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** Owners of each dependent, so that changed references are unlinked. */
  readonly #owners = new Map<string, readonly string[]>();
  readonly #due = new Map<string, Place>();
  #cancelTimer: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor({ server, clock, delayMs = 100 }: GarbageCollectorOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#transport = server.transport("kube-controller-manager/generic-garbage-collector");
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return;
    for (const [resourceId, collection] of this.#server.inside.backend.store.collections()) {
      for (const object of collection.values()) this.#see(resourceId, object);
    }
    this.#unsubscribe = this.#server.onChange((resourceId, event) => this.#onChange(resourceId, event));
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#cancelTimer?.();
    this.#unsubscribe = undefined;
    this.#cancelTimer = undefined;
  }

  #onChange(resourceId: string, { type, object }: StoreEvent): void {
    if (type === "DELETED") this.#forget(placeOf(resourceId, object));
    else this.#see(resourceId, object);
  }

  #see(resourceId: string, object: ApiObject): void {
    const place = placeOf(resourceId, object);
    this.#alive.set(place.uid, place);
    this.#link(place, object);
    const isDangling = this.#owners.get(place.uid)?.some((owner) => !this.#alive.has(owner)) === true;
    if (isDangling || isWaiting(object)) this.#schedule(place);
  }

  #forget(place: Place): void {
    this.#alive.delete(place.uid);
    for (const owner of this.#owners.get(place.uid) ?? []) {
      this.#dependents.get(owner)?.delete(place.uid);
      const waiting = this.#alive.get(owner);
      if (waiting !== undefined && isWaiting(this.#find(waiting))) this.#schedule(waiting);
    }
    this.#owners.delete(place.uid);
    for (const dependent of this.#dependents.get(place.uid)?.values() ?? []) this.#schedule(dependent);
    this.#dependents.delete(place.uid);
  }

  #link(place: Place, object: ApiObject): void {
    const owners = objectsAt(object.metadata, "ownerReferences").map((owner) => textAt(owner, "uid") ?? "");
    const before = this.#owners.get(place.uid) ?? [];
    if (owners.length === 0 && before.length === 0) return;
    for (const owner of before) if (!owners.includes(owner)) this.#dependents.get(owner)?.delete(place.uid);
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner) ?? new Map<string, Place>();
      dependents.set(place.uid, place);
      this.#dependents.set(owner, dependents);
    }
    if (owners.length === 0) this.#owners.delete(place.uid);
    else this.#owners.set(place.uid, owners);
  }

  #schedule(place: Place): void {
    this.#due.set(place.uid, place);
    this.#cancelTimer ??= this.#clock.after(this.#delayMs, () => {
      this.#cancelTimer = undefined;
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    const places = [...this.#due.values()];
    this.#due.clear();
    for (const place of places) {
      const object = this.#find(place);
      if (object === undefined || this.#unsubscribe === undefined) continue;
      const finalizers = listAt(object.metadata, "finalizers");
      if (isDeleting(object) && finalizers.includes("orphan")) await this.#orphan(place);
      else if (isDeleting(object) && finalizers.includes("foregroundDeletion")) await this.#deleteInForeground(place);
      else if (!isDeleting(object)) await this.#collect(place, object);
    }
  }

  /** Deletes an object all of whose owners are gone; takes away the references to those that are. */
  async #collect(place: Place, object: ApiObject): Promise<void> {
    const references = objectsAt(object.metadata, "ownerReferences");
    const living = references.filter((owner) => this.#alive.has(textAt(owner, "uid") ?? ""));
    if (references.length === 0 || living.length === references.length) return;
    if (living.length > 0) await this.#patch(place, { metadata: { uid: place.uid, ownerReferences: living } });
    else await this.#delete(place, "Background");
  }

  async #deleteInForeground(owner: Place): Promise<void> {
    const dependents = [...(this.#dependents.get(owner.uid)?.values() ?? [])];
    const blocking = dependents.filter((place) => blocks(this.#find(place), owner.uid));
    for (const place of dependents) {
      const dependent = this.#find(place);
      if (dependent === undefined || isDeleting(dependent)) continue;
      const others = objectsAt(dependent.metadata, "ownerReferences").filter((reference) => this.#isSolid(reference));
      if (others.length > 0) await this.#patch(place, { metadata: { uid: place.uid, ownerReferences: others } });
      else await this.#delete(place, "Foreground");
    }
    if (blocking.length === 0) await this.#removeFinalizer(owner, "foregroundDeletion");
  }

  /** An owner that is there and does not itself wait for its dependents to go. */
  #isSolid(reference: JsonObject): boolean {
    const owner = this.#alive.get(textAt(reference, "uid") ?? "");
    const object = owner && this.#find(owner);
    return object !== undefined && !(isDeleting(object) && listAt(object.metadata, "finalizers").includes("foregroundDeletion"));
  }

  async #orphan(owner: Place): Promise<void> {
    for (const place of [...(this.#dependents.get(owner.uid)?.values() ?? [])]) {
      const references = objectsAt(this.#find(place)?.metadata, "ownerReferences").filter((reference) => reference.uid !== owner.uid);
      await this.#patch(place, { metadata: { uid: place.uid, ownerReferences: references.length > 0 ? references : null } });
    }
    await this.#removeFinalizer(owner, "orphan");
  }

  async #removeFinalizer(place: Place, finalizer: string): Promise<void> {
    const object = this.#find(place);
    if (object === undefined) return;
    const finalizers = listAt(object.metadata, "finalizers").filter((other) => other !== finalizer);
    const { resourceVersion } = object.metadata;
    await this.#patch(place, { metadata: { uid: place.uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null } });
  }

  #find(place: Place): ApiObject | undefined {
    const key = place.namespace === "" ? place.name : `${place.namespace}/${place.name}`;
    const object = this.#server.inside.backend.store.collection(place.resourceId).find(key);
    return object?.metadata.uid === place.uid ? object : undefined;
  }

  async #delete(place: Place, propagationPolicy: string): Promise<void> {
    const path = this.#path(place);
    if (path === undefined) return;
    await this.#transport.send({ method: "DELETE", path, body: { propagationPolicy, preconditions: { uid: place.uid } } });
  }

  async #patch(place: Place, body: unknown): Promise<void> {
    const path = this.#path(place);
    if (path === undefined) return;
    const { status } = await this.#transport.send({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    if (status === 409) this.#schedule(place);
  }

  #path({ resourceId, namespace, name }: Place): string | undefined {
    const resource = this.#server.inside.backend.registry.all().find(({ id }) => id === resourceId);
    return resource === undefined ? undefined : pathOf(resource, { metadata: { name, namespace } });
  }
}

function placeOf(resourceId: string, { metadata }: ApiObject): Place {
  return {
    resourceId,
    namespace: textAt(metadata, "namespace") ?? "",
    name: textAt(metadata, "name") ?? "",
    uid: textAt(metadata, "uid") ?? "",
  };
}

function isDeleting(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function isWaiting(object: ApiObject | undefined): boolean {
  if (object === undefined || !isDeleting(object)) return false;
  return listAt(object.metadata, "finalizers").some((finalizer) => finalizer === "orphan" || finalizer === "foregroundDeletion");
}

function blocks(dependent: ApiObject | undefined, ownerUid: string): boolean {
  return objectsAt(dependent?.metadata, "ownerReferences").some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true);
}
