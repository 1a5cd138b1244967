/** The door of the schema engine: what a Kubernetes API server does with the schema of any CRD. */
import { checkRules, hasRules, parseFieldPath } from "../cel/rules.ts";
import { withDefaults } from "./defaults.ts";
import type { Issue } from "./issue.ts";
import { isObject, propertyOf } from "./json.ts";
import type { CustomResourceVersion, OpenApiSchema } from "./open-api.ts";
import { type Pruned, prune } from "./prune.ts";
import { checkStructure, isBlocking } from "./structure.ts";

const REPLICAS_MAX = 2 ** 31 - 1;

export interface CompiledSchema {
  /** Drops unknown fields, and names them for strict requests. Copies on write. */
  prune(object: unknown): Pruned;
  /** Fills absent fields with defaults. Copies on write; do this before `validate`. */
  withDefaults<T>(object: T): T;
  /**
   * Everything that an API server would refuse. With `old` it is an update: transition rules run, and what did not change is not
   * judged again. Structure first; rules only run on objects whose structure lets them.
   */
  validate(object: unknown, old?: unknown): Issue[];
  /** Whether there are rules that were not asked because of these issues. */
  blocksRules(issues: readonly Issue[]): boolean;
}

/** Compiles the schema of a version of a CRD, with what its scale subresource asks of the number of replicas. */
export function compileVersion({ schema, subresources }: CustomResourceVersion): CompiledSchema {
  const compiled = compileSchema(schema?.openAPIV3Schema ?? { "x-kubernetes-preserve-unknown-fields": true });
  const path = subresources?.scale?.specReplicasPath;
  if (path === undefined) return compiled;
  return { ...compiled, validate: (object, old) => [...compiled.validate(object, old), ...checkReplicas(object, parseFieldPath(path))] };
}

/** Scale objects count replicas in 32 bits. */
function checkReplicas(object: unknown, path: readonly string[]): Issue[] {
  const replicas = path.reduce<unknown>((value, step) => (isObject(value) ? propertyOf(value, step) : undefined), object);
  if (typeof replicas !== "number") return [];
  const wanted = replicas > REPLICAS_MAX ? `less than or equal to ${REPLICAS_MAX}` : replicas < 0 ? "a non-negative integer" : undefined;
  return wanted === undefined
    ? []
    : [{ path, code: "FieldValueInvalid", message: `Invalid value: ${replicas}: should be ${wanted}`, wanted }];
}

/** Compiles a structural schema; rules are compiled when they first run. */
export function compileSchema(schema: OpenApiSchema): CompiledSchema {
  const checksRules = hasRules(schema);
  const blocksRules = (issues: readonly Issue[]): boolean => checksRules && issues.some(isBlocking);
  return {
    prune: (object) => prune(schema, object),
    withDefaults: <T>(object: T) => withDefaults(schema, object) as T,
    validate: (object, old) => {
      const issues = checkStructure(schema, object, old);
      return !checksRules || blocksRules(issues) ? issues : [...issues, ...checkRules(schema, object, old)];
    },
    blocksRules,
  };
}
