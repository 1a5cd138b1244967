#!/usr/bin/env node
/**
 * Writes protobuf.generated.ts: field numbers of the built-in kinds, taken from the .proto files of Kubernetes' Go modules.
 *   node generate-protobuf.mjs <folder of k8s.io/api> <folder of k8s.io/apimachinery>
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [, , api, machinery] = process.argv;
const groups =
  "core/v1 apps/v1 batch/v1 policy/v1 autoscaling/v1 autoscaling/v2 rbac/v1 storage/v1 scheduling/v1 coordination/v1 networking/v1 discovery/v1 node/v1 events/v1 authentication/v1 authorization/v1 resource/v1".split(
    " ",
  );
const roots =
  "Pod Node Namespace Event PersistentVolume PersistentVolumeClaim Service Endpoints ConfigMap Secret ServiceAccount ReplicationController LimitRange ResourceQuota PodTemplate Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision Job CronJob Lease PodDisruptionBudget StorageClass CSINode CSIDriver VolumeAttachment PriorityClass RuntimeClass EndpointSlice Ingress IngressClass NetworkPolicy HorizontalPodAutoscaler Role RoleBinding ClusterRole ClusterRoleBinding Eviction Binding Scale DeleteOptions SelfSubjectAccessReview SelfSubjectRulesReview SelfSubjectReview SubjectAccessReview TokenReview TokenRequest".split(
    " ",
  );
const scalars = { string: "s", bytes: "y", bool: "b", double: "d", int32: "i", int64: "i", uint32: "i", uint64: "i" };
const messages = new Map();
for (const group of groups) read(join(api, group, "generated.proto"), group.replace("/", "."));
read(join(machinery, "pkg/apis/meta/v1/generated.proto"), "meta.v1");

function read(file, prefix) {
  if (!existsSync(file)) return;
  const zeroesLeftOut = readGo(join(dirname(file), "types.go"));
  let current;
  let dropped;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const start = /^message (\w+) \{/.exec(line);
    if (start) {
      current = [];
      messages.set(`${prefix}.${start[1]}`, current);
      dropped = zeroesLeftOut.get(start[1]);
    }
    const map = /^\s+map<(\w+), ([\w.]+)> (\w+) = (\d+);/.exec(line);
    if (map) current?.push(`${map[3]}:${map[4]}:{}${typeOf(map[2], prefix)}`);
    const field = /^\s+(optional|repeated) ([\w.]+) (\w+) = (\d+)/.exec(line);
    if (field)
      current?.push(
        `${field[3]}:${field[4]}:${field[1] === "repeated" ? "[]" : ""}${typeOf(field[2], prefix)}${dropped?.has(field[3]) ? "-" : ""}`,
      );
  }
}

/** Struct to the fields that are no pointers and that JSON leaves out when they are zero. Protobuf writes them all the same. */
function readGo(file) {
  const structs = new Map();
  if (!existsSync(file)) return structs;
  let current;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const start = /^type (\w+) struct \{/.exec(line);
    if (start) {
      current = new Set();
      structs.set(start[1], current);
    }
    const field = /^\s+\w+\s+([^\s*[]\S*)\s+`json:"(\w+),omit\w+"[^`]*protobuf:"varint,/.exec(line);
    if (field) current?.add(field[2]);
  }
  return structs;
}

function typeOf(name, prefix) {
  if (scalars[name]) return scalars[name];
  const full = name.startsWith(".") ? name.slice(1) : name;
  const short = full.replace(/^k8s\.io\.(api|apimachinery\.pkg\.apis|apimachinery\.pkg)\./, "");
  if (/(^|\.)resource\.Quantity$/.test(short) && !short.includes("v1")) return "q";
  if (/intstr\.IntOrString$/.test(short)) return "o";
  if (/(^|\.)(Time|MicroTime)$/.test(short)) return "t";
  if (/(RawExtension|FieldsV1)$/.test(short)) return "x";
  return `@${short.includes(".") ? short : `${prefix}.${short}`}`;
}

const wanted = new Set();
function visit(name) {
  if (wanted.has(name) || !messages.has(name)) return;
  wanted.add(name);
  for (const field of messages.get(name)) {
    const reference = /@(.+)$/.exec(field);
    if (reference) visit(reference[1]);
  }
}
for (const name of messages.keys()) if (roots.includes(name.split(".").pop())) visit(name);
writeFileSync(
  new URL("protobuf.generated.ts", import.meta.url),
  `/** Made by generate-protobuf.mjs. Fields as name:number:type; the notation is read by protobuf.ts. */
export const messages: Readonly<Record<string, string>> = {
${[...wanted].map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(messages.get(name).join(" "))},`).join("\n")}
};
`,
);
