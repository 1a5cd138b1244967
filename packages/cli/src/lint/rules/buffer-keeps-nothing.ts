/** CapacityBuffers that refer to nothing that pods can be read from. Rules L-207, L-209. */
import {
  type CapacityBuffer,
  CapacityBuffers,
  Deployments,
  type Kind,
  type KubeObject,
  PodTemplates,
  ReplicaSets,
  StatefulSets,
} from "@joinery/api";
import { resolveBuffer } from "@joinery/scheduling";
import { bufferSources } from "../../plan/planned-buffers.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { type Located, nameOf, namespaceOf } from "../located.ts";
import { missingObject } from "../missing-object.ts";
import type { Rule } from "../rule.ts";

export const bufferKeepsNothing: Rule = {
  name: "buffer-keeps-nothing",
  severity: "error",
  summary: "A CapacityBuffer refers to nothing that pods can be read from, so it keeps no room.",
  *check(facts) {
    const sources = bufferSources({ of: (kind) => facts.objects.of(kind).map(({ object }) => object) });
    for (const buffer of facts.objects.of(CapacityBuffers)) {
      if (buffer.object.metadata?.deletionTimestamp !== undefined) continue;
      const resolution = resolveBuffer(buffer.object, sources);
      if (resolution.kind === "unresolved") yield remarkOf(buffer, resolution, facts);
    }
  },
};

const SCALABLE: readonly Kind<KubeObject>[] = [Deployments, StatefulSets, ReplicaSets];

function remarkOf(
  { object, manifest }: Located<CapacityBuffer>,
  { reason, message }: { readonly reason: string; readonly message: string },
  facts: Facts,
): Remark {
  const { podTemplateRef, scalableRef } = object.spec;
  const happens = { missing: "so the buffer keeps no room", unknown: "without it the buffer keeps no room" };
  const known = (kind: Kind<KubeObject>) =>
    facts.objects
      .of(kind)
      .filter((one) => namespaceOf(one.object) === namespaceOf(object))
      .map((one) => nameOf(one.object));
  const ref = podTemplateRef ?? scalableRef;
  const kind = podTemplateRef !== undefined ? PodTemplates : SCALABLE.find((one) => one.kind === scalableRef?.kind);
  const field = podTemplateRef !== undefined ? "podTemplateRef" : "scalableRef";
  if (reason !== "ResolutionFailed" && ref !== undefined && kind !== undefined)
    return missingObject(kind, ref.name, known(kind), { manifest, path: ["spec", field, "name"] }, facts, happens);
  return {
    severity: "error",
    manifest,
    path: ref === undefined ? ["spec"] : ["spec", field, kind === undefined ? "kind" : "apiGroup"],
    message: `${message}, so the buffer keeps no room`,
    instead: "scalableRef with a Deployment, StatefulSet or ReplicaSet of apps, or podTemplateRef with replicas",
  };
}
