/** NodeOverlays at run time: condition ValidationSucceeded, reason RuntimeValidation. Rules. */
import type { LabelVocabulary } from "../labels.ts";
import type { NodeOverlay } from "../owned/node-overlay.ts";
import { type Invalidity, type RuntimeVerdict, verdictOf } from "./invalidity.ts";
import { checkQuantities } from "./quantities.ts";
import { checkNotInValues, checkRequirement } from "./requirements.ts";

/** `vocabulary`: the labels that core and the provider know. */
export function validateNodeOverlay({ spec }: NodeOverlay, vocabulary: LabelVocabulary): RuntimeVerdict {
  const requirements = spec.requirements.map((requirement, at) => {
    const path = ["spec", "requirements", at];
    const { invalid, warnings } = checkRequirement(requirement, vocabulary, path);
    return { invalid: [...invalid, ...checkNotInValues(requirement, path)], warnings };
  });
  const capacity = Object.keys(spec.capacity ?? {}).flatMap((name): Invalidity[] =>
    vocabulary.wellKnownResources.has(name)
      ? [{ kind: "restricted-resource", path: ["spec", "capacity", name], message: `resource "${name}" cannot be changed by an overlay` }]
      : [],
  );
  const quantities = checkQuantities(spec.capacity ?? {}, ["spec", "capacity"]);
  return verdictOf(
    [...requirements.flatMap(({ invalid }) => invalid), ...capacity, ...quantities],
    requirements.flatMap(({ warnings }) => warnings),
  );
}
