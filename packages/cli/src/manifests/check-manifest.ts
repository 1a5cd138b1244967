/** One manifest → what a real API server would refuse in it. Built-in kinds are checked here, our own by `packages/api`. */
import type { KubeObject } from "@joinery/api";
import { findBuiltIn, findMeantKind, findServedVersion } from "./built-in/built-in-kinds.ts";
import { checkMetadata } from "./built-in/metadata.ts";
import { checkShape, describe } from "./built-in/shapes.ts";
import type { FieldPath } from "./field-path.ts";
import type { Manifest } from "./manifest.ts";
import { checkOwned } from "./owned.ts";
import { type InputProblem, problemAt } from "./problem.ts";

export type Verdict =
  | { readonly kind: "known"; readonly problems: readonly InputProblem[] }
  /** No kind that Joinery reads. */
  | { readonly kind: "ignored" };

export function checkManifest(manifest: Manifest): Verdict {
  const { apiVersion, kind } = manifest.object;
  const header = checkHeader(manifest);
  if (header.length > 0) return { kind: "known", problems: header };
  const owned = checkOwned(manifest);
  if (owned.kind === "ours") return { kind: "known", problems: owned.problems };
  const builtIn = findBuiltIn(apiVersion!, kind!);
  if (builtIn !== undefined) return { kind: "known", problems: checkBuiltIn(manifest, builtIn) };
  const advice = adviceFor(manifest);
  if (advice !== undefined) return { kind: "known", problems: [problemAt(manifest, ["kind"], advice)] };
  const served = findServedVersion(apiVersion!, kind!);
  if (served === undefined) {
    const meant = findMeantKind(apiVersion!, kind!);
    if (meant === undefined) return { kind: "ignored" };
    return { kind: "known", problems: [problemAt(manifest, ["kind"], `${apiVersion} has no kind ${kind}; did you mean ${meant}?`)] };
  }
  return { kind: "known", problems: [problemAt(manifest, ["apiVersion"], `${kind} is not served under ${apiVersion}; use ${served}`)] };
}

/** Documents that look like manifests but belong to a flag. Ignored, they would change no answer and leave the reader wondering why. */
function adviceFor({ object: { apiVersion, kind, message } }: Manifest): string | undefined {
  if (apiVersion === "v1" && kind === "Status")
    return `this is what a server answers when it refuses${typeof message === "string" ? ` (${message})` : ""}, and no object of it; ask again`;
  if (apiVersion?.startsWith("kubescheduler.config.k8s.io/"))
    return `${kind} is kube-scheduler's own configuration and no object of a cluster; give its default constraints with --scheduler-config`;
  if (apiVersion === "v1" && kind === "Config")
    return "this is a kubeconfig and no object of a cluster; read its cluster with --kubeconfig FILE";
  return undefined;
}

/** A document must say what it is before anything else can be said about it. */
function checkHeader(manifest: Manifest): InputProblem[] {
  const { apiVersion, kind, metadata } = manifest.object as {
    readonly apiVersion: unknown;
    readonly kind: unknown;
    readonly metadata: unknown;
  };
  const problems: InputProblem[] = [];
  for (const [field, value, example] of [
    ["apiVersion", apiVersion, "v1"],
    ["kind", kind, "Pod"],
  ] as const) {
    if (typeof value === "string" && value !== "") continue;
    const fault = value === undefined || value === null || value === "" ? "is missing" : `must be text, is ${describe(value)}`;
    const file = { file: manifest.file, ...manifest.locate([field]) };
    problems.push({ severity: "error", ...file, path: field, message: `${fault}; every object needs one, such as ${example}` });
  }
  if (problems.length === 0 && metadata !== undefined && metadata !== null && (typeof metadata !== "object" || Array.isArray(metadata))) {
    problems.push(problemAt(manifest, ["metadata"], `must be an object, is ${describe(metadata)}`));
  }
  return problems;
}

function checkBuiltIn(manifest: Manifest, builtIn: NonNullable<ReturnType<typeof findBuiltIn>>): InputProblem[] {
  const problems: InputProblem[] = [];
  let hasFault = false;
  checkShape(manifest.object, builtIn.kind, (severity, path, message) => {
    hasFault ||= severity === "error";
    problems.push(problemAt(manifest, [...path], message, severity));
  });
  if (hasFault) return problems;
  const report = { error: (path: FieldPath, message: string) => void problems.push(problemAt(manifest, path, message)) };
  const object: KubeObject = manifest.object;
  checkMetadata(object.metadata, builtIn, report);
  builtIn.check(object, report);
  return problems;
}
