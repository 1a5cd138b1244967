/** Discovery: which groups, versions and resources there are, in the plain and in the aggregated form. */
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import type { JsonObject } from "../objects/json.ts";
import type { Registry } from "../registry/registry.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const subresourceVerbs: Readonly<Record<string, readonly string[]>> = {
  status: ["get", "patch", "update"],
  scale: ["get", "patch", "update"],
  ephemeralcontainers: ["get", "patch", "update"],
  resize: ["get", "patch", "update"],
  finalize: ["update"],
  log: ["get"],
  exec: ["create", "get"],
  attach: ["create", "get"],
  portforward: ["create", "get"],
};
const subresourceKinds: Readonly<Record<string, readonly [group: string, version: string, kind: string]>> = {
  scale: ["autoscaling", "v1", "Scale"],
  eviction: ["policy", "v1", "Eviction"],
  binding: ["", "v1", "Binding"],
  exec: ["", "v1", "PodExecOptions"],
  attach: ["", "v1", "PodAttachOptions"],
  portforward: ["", "v1", "PodPortForwardOptions"],
  token: ["authentication.k8s.io", "v1", "TokenRequest"],
};

/** Undefined when the path is no discovery path. */
export function answerDiscovery(registry: Registry, { path, accept }: ApiRequest): ApiResponse | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const aggregated = /g=apidiscovery\.k8s\.io;v=(v2|v2beta1)|v=(v2|v2beta1);g=apidiscovery\.k8s\.io/.exec(accept ?? "");
  const [root, second, third] = parts;
  if (parts.length === 1 && (root === "api" || root === "apis")) {
    if (aggregated !== null) return aggregatedAnswer(registry, root, aggregated[1] ?? aggregated[2] ?? "v2");
    return { status: 200, body: root === "api" ? coreVersions() : groupList(registry) };
  }
  if (root === "api" && second === "v1" && parts.length === 2) return { status: 200, body: resourceList(registry, "", "v1") };
  if (root !== "apis" || second === undefined) return undefined;
  if (parts.length === 2) {
    const group = groupsOf(registry).find(([name]) => name === second);
    return group === undefined ? undefined : { status: 200, body: { kind: "APIGroup", apiVersion: "v1", ...groupBody(...group) } };
  }
  if (parts.length === 3 && third !== undefined && versionsOf(registry, second).includes(third)) {
    return { status: 200, body: resourceList(registry, second, third) };
  }
  return undefined;
}

function coreVersions(): JsonObject {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1" }] };
}

function groupsOf(registry: Registry): [name: string, versions: string[]][] {
  const names = new Set(registry.all().map(({ group }) => group));
  names.delete("");
  return [...names].map((name) => [name, versionsOf(registry, name)]);
}

function versionsOf(registry: Registry, group: string): string[] {
  return [
    ...new Set(
      registry
        .all()
        .filter((resource) => resource.group === group)
        .map(({ version }) => version),
    ),
  ];
}

function groupBody(name: string, versions: readonly string[]): JsonObject {
  const list = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] ?? {} };
}

function groupList(registry: Registry): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(registry).map(([name, versions]) => groupBody(name, versions)) };
}

function resourcesOf(registry: Registry, group: string, version: string): Resource[] {
  return registry.all().filter((resource) => resource.group === group && resource.version === version);
}

function resourceList(registry: Registry, group: string, version: string): JsonObject {
  const resources = resourcesOf(registry, group, version).flatMap((resource) => [
    {
      name: resource.resource,
      singularName: resource.singular,
      namespaced: resource.isNamespaced,
      kind: resource.kind,
      verbs: verbs as string[],
      ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
      ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    },
    ...[...resource.subresources].map((subresource) => {
      const [kindGroup, kindVersion, kind] = subresourceKinds[subresource] ?? [undefined, undefined, resource.kind];
      return {
        name: `${resource.resource}/${subresource}`,
        singularName: "",
        namespaced: resource.isNamespaced,
        ...(kindGroup === undefined ? {} : { group: kindGroup, version: kindVersion }),
        kind,
        verbs: [...(subresourceVerbs[subresource] ?? ["create"])],
      };
    }),
  ]);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf({ group, version }),
    resources: resources as JsonObject[],
  };
}

function aggregatedAnswer(registry: Registry, root: string, version: string): ApiResponse {
  const groups: [string, string[]][] = root === "api" ? [["", versionsOf(registry, "")]] : groupsOf(registry);
  const items = groups.map(([name, versions]) => ({
    metadata: name === "" ? { creationTimestamp: null } : { name, creationTimestamp: null },
    versions: versions.map((groupVersion) => ({
      version: groupVersion,
      resources: resourcesOf(registry, name, groupVersion).map(aggregatedResource),
      freshness: "Current",
    })),
  }));
  return {
    status: 200,
    headers: { "Content-Type": `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList` },
    body: { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items },
  };
}

function aggregatedResource(resource: Resource): JsonObject {
  const { group, version, kind } = resource;
  const subresources = [...resource.subresources].map((subresource) => {
    const [kindGroup, kindVersion, kindName] = subresourceKinds[subresource] ?? [group, version, kind];
    return {
      subresource,
      responseKind: { group: kindGroup, version: kindVersion, kind: kindName },
      verbs: [...(subresourceVerbs[subresource] ?? ["create"])],
    };
  });
  return {
    resource: resource.resource,
    responseKind: { group, version, kind },
    scope: resource.isNamespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
    ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}
