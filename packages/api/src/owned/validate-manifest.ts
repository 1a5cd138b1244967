/** What admission says to an object of ours, as `kubectl apply --validate=strict` would hear it. */
import type { Kind } from "../kubernetes/kinds.ts";
import { apiVersionOf } from "../kubernetes/kinds.ts";
import { type CompiledSchema, compileVersion } from "../schema/compile.ts";
import { formatPath, type Issue } from "../schema/issue.ts";
import { isObject } from "../schema/json.ts";
import { crdOf, OWNED_KINDS } from "./definitions.ts";
import { checkMetadata } from "./object-metadata.ts";

const compiled = new Map<Kind, CompiledSchema>();

/** Kinds of Karpenter that exist no more, and what took their place. */
const REPLACED: Readonly<Record<string, Kind | undefined>> = {
  Provisioner: OWNED_KINDS.find(({ kind }) => kind === "NodePool"),
  Machine: OWNED_KINDS.find(({ kind }) => kind === "NodeClaim"),
  AWSNodeTemplate: OWNED_KINDS.find(({ kind }) => kind === "EC2NodeClass"),
};

/** Groups that our kinds live or lived in. */
const OWNED_GROUPS = new Set([...OWNED_KINDS.map(({ group }) => group), "karpenter.k8s.aws"]);

/** The kind of ours that an object says it is; undefined for all others. */
export function ownedKindOf(object: { readonly apiVersion?: string; readonly kind?: string }): Kind | undefined {
  return OWNED_KINDS.find((kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
}

/** The engine for a kind of ours; compiled once. */
export function schemaOf(kind: Kind): CompiledSchema {
  let schema = compiled.get(kind);
  if (schema === undefined) {
    schema = compileVersion(crdOf(kind).spec.versions[0]!);
    compiled.set(kind, schema);
  }
  return schema;
}

/** The object as it would be stored: unknown fields gone, defaults filled in. Borrowed objects are not written to. */
export function admitted<T extends object>(kind: Kind<T>, object: T): T {
  const schema = schemaOf(kind as Kind);
  return schema.withDefaults(schema.prune(object).object as T);
}

/**
 * Everything that a strict API server would refuse in an object of a group of ours, unknown fields included. Empty for objects of
 * other groups: they are not ours to judge. With `old`, the rules about changes are asked, too.
 */
export function validateManifest(object: unknown, { old }: { readonly old?: unknown } = {}): Issue[] {
  if (!isObject(object)) return [];
  const kind = ownedKindOf(object);
  if (kind === undefined) return strangerIssues(object);
  const schema = schemaOf(kind);
  const { object: pruned, unknown } = schema.prune(object);
  const strangers = unknown.map((path): Issue => ({ path, code: "UnknownField", message: `unknown field "${formatPath(path)}"` }));
  const [desired, stored] = [pruned, old].map((one) => (one === undefined ? undefined : schema.withDefaults(withoutStatus(one))));
  return [...strangers, ...checkMetadata(object), ...schema.validate(desired, stored)];
}

/** Status is a subresource of all our kinds: what a request to the object itself says of it is dropped unread. */
function withoutStatus(object: unknown): unknown {
  if (!isObject(object)) return object;
  const { status: _, ...rest } = object;
  return rest;
}

/** Versions and kinds that are gone, in groups where only ours live. */
function strangerIssues(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): Issue[] {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return [];
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  if (!OWNED_GROUPS.has(group)) return [];
  const noMatch = `no matches for kind "${kind}" in version "${apiVersion}"`;
  const sameKind = OWNED_KINDS.find((one) => one.kind === kind);
  if (sameKind !== undefined) {
    const wanted = `apiVersion: ${apiVersionOf(sameKind)}`;
    return [
      {
        path: ["apiVersion"],
        code: "UnsupportedVersion",
        message: `${noMatch}: ${kind} is served as ${apiVersionOf(sameKind)} only`,
        wanted,
      },
    ];
  }
  const successor = Object.hasOwn(REPLACED, kind) ? REPLACED[kind] : undefined;
  if (successor !== undefined) {
    const wanted = `kind: ${successor.kind} in ${apiVersionOf(successor)}`;
    return [
      {
        path: ["kind"],
        code: "UnknownKind",
        message: `${noMatch}: it was replaced by ${successor.kind} in ${apiVersionOf(successor)}`,
        wanted,
      },
    ];
  }
  const known = OWNED_KINDS.filter((one) => one.group === group);
  const wanted = known.map((one) => `${one.kind} in ${apiVersionOf(one)}`).join(", ");
  // A shared group such as autoscaling.x-k8s.io has kinds of others, too.
  return group.endsWith("x-k8s.io") ? [] : [{ path: ["kind"], code: "UnknownKind", message: `${noMatch}: known are ${wanted}`, wanted }];
}
