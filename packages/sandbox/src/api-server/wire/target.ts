/** What a request path addresses. */

export interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Undefined when the path addresses no resource (discovery, health and the like). */
export function parseTarget(path: string): Target | undefined {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeSegment);
  const root = parts.shift();
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : parts.shift();
  const version = parts.shift();
  if (group === undefined || version === undefined || parts.length === 0) return undefined;
  if (parts[0] === "namespaces" && parts.length >= 3 && !isNamespaceSubresource(group, parts)) {
    const [, namespace, resource, name, subresource] = parts as [string, string, string, string?, string?];
    return target(group, version, resource, namespace, name, subresource);
  }
  const [resource, name, subresource] = parts as [string, string?, string?];
  return target(group, version, resource, undefined, name, subresource);
}

function isNamespaceSubresource(group: string, parts: readonly string[]): boolean {
  return group === "" && parts.length === 3 && (parts[2] === "status" || parts[2] === "finalize");
}

function target(group: string, version: string, resource: string, namespace?: string, name?: string, subresource?: string): Target {
  return {
    group,
    version,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
