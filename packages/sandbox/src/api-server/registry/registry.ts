/** Which resources are served right now: the built-in ones and what CustomResourceDefinitions add. */
import { builtInResources } from "./built-in.ts";
import type { Resource } from "./resource.ts";

export class Registry {
  /** By `group/version/resource`. */
  readonly #resources = new Map<string, Resource>();
  #revision = 0;

  constructor() {
    for (const resource of builtInResources()) this.add(resource);
  }

  /** Counts changes, so that documents made from the registry can be kept until it changes. */
  get revision(): number {
    return this.#revision;
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.#resources.get(`${group}/${version}/${resource}`);
  }

  all(): Resource[] {
    return [...this.#resources.values()];
  }

  add(resource: Resource): void {
    this.#resources.set(`${resource.group}/${resource.version}/${resource.resource}`, resource);
    this.#revision++;
  }

  removeCollection(id: string): void {
    for (const [key, resource] of this.#resources) {
      if (resource.id === id) this.#resources.delete(key);
    }
    this.#revision++;
  }
}
