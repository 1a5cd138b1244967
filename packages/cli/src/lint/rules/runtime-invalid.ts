/** What admission lets through and the controller then finds invalid. Rules A-97…A-107. */
import {
  Ec2NodeClasses,
  type Invalidity,
  type InvalidityKind,
  NodeOverlays,
  type RuntimeVerdict,
  validateEc2NodeClass,
  validateNodeOverlay,
} from "@joinery/api";
import type { Manifest } from "../../manifests/manifest.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import type { Rule } from "../rule.ts";

const INSTEAD: Readonly<Record<InvalidityKind, string>> = {
  "restricted-label": "a label of a domain of your own, or one of the well-known labels",
  "invalid-key": "a key such as example.com/team: an optional DNS name and a slash, then at most 63 letters, digits, -, _ or .",
  "invalid-value": "at most 63 letters, digits, -, _ or ., with a letter or digit at both ends",
  "invalid-operator": "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte",
  "missing-values": "at least one value, or the operator Exists or DoesNotExist",
  "too-few-values": "a smaller minValues, or more values",
  "no-known-value": "one of the values that the message names",
  "invalid-bound": "one whole number that is not negative",
  "invalid-effect": "NoSchedule, PreferNoSchedule or NoExecute",
  "duplicate-taint": "each key and effect once, either in taints or in startupTaints",
  "invalid-duration": "a shorter duration, such as 720h, or Never where that is allowed",
  "restricted-resource": "only extended resources that the provider does not know by itself",
  "restricted-tag": "a tag that is not one of the controller's own",
  "invalid-alias": "an alias such as al2023@latest",
  "invalid-quantity": "a quantity such as 100, 1500m or 64Gi",
};

export const runtimeInvalid: Rule = {
  name: "runtime-invalid",
  severity: "error",
  summary: "The API server takes the object, but the controller finds it invalid and does not use it.",
  *check({ pools, objects, vocabulary }) {
    for (const { manifest, faults, concerns } of pools) yield* remarksOf(manifest, { invalid: faults, warnings: concerns }, "NodePool");
    yield* others({ objects, vocabulary });
  },
};

function* others({ objects, vocabulary }: Pick<Facts, "objects" | "vocabulary">): Iterable<Remark> {
  for (const { object, manifest } of objects.of(NodeOverlays)) {
    yield* remarksOf(manifest, validateNodeOverlay(object, vocabulary), "NodeOverlay");
  }
  for (const { object, manifest } of objects.of(Ec2NodeClasses)) {
    if (object.spec !== undefined) yield* remarksOf(manifest, validateEc2NodeClass(object.spec), "EC2NodeClass");
  }
}

const CONSEQUENCE = {
  NodePool: "the controller sets ValidationSucceeded to False and makes no nodes of this pool",
  NodeOverlay: "the controller sets ValidationSucceeded to False and does not apply this overlay",
  EC2NodeClass: "the controller sets ValidationSucceeded to False, and no pool of this class gets nodes",
} as const;

function* remarksOf(manifest: Manifest, { invalid, warnings }: RuntimeVerdict, kind: keyof typeof CONSEQUENCE): Iterable<Remark> {
  for (const fault of invalid) yield { severity: "error", manifest, ...textOf(fault, CONSEQUENCE[kind]) };
  for (const concern of warnings) yield { severity: "warning", manifest, ...textOf(concern, "the controller ignores the unknown ones") };
}

function textOf({ kind, path, message }: Invalidity, consequence: string) {
  return { path, message: `${message}; ${consequence}`, instead: INSTEAD[kind] };
}
