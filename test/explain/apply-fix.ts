/** The fixes of `plan` and `explain`, made in the objects that they name. RFC 7386, written apart from the program's own. */

export type Json = Readonly<Record<string, unknown>>;

export interface Fix {
  readonly message: string;
  readonly patch: Json;
  readonly secondPatch?: Json;
  readonly morePatches?: readonly Json[];
  readonly laterSolves?: number;
}

/** The objects with the fix made; throws where one of its patches names none of them. */
export function patched(objects: readonly Json[], { patch, secondPatch, morePatches = [] }: Fix): Json[] {
  const patches = secondPatch === undefined ? [patch] : [patch, secondPatch, ...morePatches];
  return patches.reduce(
    (before: Json[], one) => {
      const at = before.findIndex((object) => isTarget(object, one));
      if (at < 0) throw new Error(`no ${one.kind} for ${JSON.stringify(one.metadata)}`);
      return before.with(at, merged(before[at], one)).map((object) => rolledOut(object, one));
    },
    [...objects],
  );
}

/** Pods that run are replaced by such as the changed template makes. */
function rolledOut(object: Json, patch: Json): Json {
  const { name, ownerReferences = [] } = object.metadata as { readonly name: string; readonly ownerReferences?: readonly Json[] };
  const { name: owner } = patch.metadata as Json;
  const isMade = object.kind === "Pod" && ownerReferences.some((one) => one.kind === patch.kind && one.name === owner);
  const template = (patch.spec as { readonly template?: Json }).template;
  return isMade && template !== undefined ? merged(object, { metadata: { name }, spec: template.spec } as Json) : object;
}

function isTarget(object: Json, patch: Json): boolean {
  const name = ({ metadata }: Json) => (metadata as Json).name;
  const namespace = ({ metadata }: Json) => (metadata as Json).namespace ?? "default";
  return object.kind === patch.kind && name(object) === name(patch) && namespace(object) === namespace(patch);
}

function merged(target: unknown, patch: Json): Json {
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(result[name], value) : value;
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
