/** Creates objects of any kind at the API server, with the address that discovery gives for their kind. */
import type { Kind, KubeObject } from "@joinery/api";
import { kind as kindOf } from "@joinery/api";
import type { KubeClient } from "@joinery/kube";

interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

export interface Installer {
  create(objects: readonly KubeObject[], signal: AbortSignal): Promise<void>;
}

export function createInstaller(client: KubeClient): Installer {
  const known = new Map<string, Kind>();

  async function addressOf({ apiVersion = "", kind = "" }: KubeObject, signal: AbortSignal): Promise<Kind> {
    const key = `${apiVersion} ${kind}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
    const list = (await client.raw(group === "" ? `/api/${version}` : `/apis/${apiVersion}`, signal)) as ResourceList;
    const resource = list.resources?.find((one) => one.kind === kind && !one.name.includes("/"));
    if (resource === undefined) throw new Error(`Cannot create ${kind}: the API server has no such kind in ${apiVersion}`);
    const address = kindOf(group, version, kind, resource.name, resource.namespaced);
    known.set(key, address);
    return address;
  }

  return {
    async create(objects, signal) {
      for (const object of objects) {
        const address = await addressOf(object, signal);
        const namespace = address.isNamespaced ? (object.metadata?.namespace ?? "default") : undefined;
        await client.create(
          address,
          { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } },
          signal,
        );
      }
    },
  };
}
