/** What API validation demands of a pod's spec, in a Pod or in a template: the parts that scheduling reads, and the usual slips. */
import type { Container, PodSpec, Toleration, Volume } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { checkAffinity } from "./affinity.ts";
import { checkContainerResources, checkOverhead } from "./container-resources.ts";
import { checkKey, checkLabels, checkText } from "./metadata.ts";
import { dnsLabel, labelValue } from "./names.ts";
import type { Report } from "./report.ts";
import { checkSelector, listOf } from "./selector.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const PROTOCOLS = ["TCP", "UDP", "SCTP"];

/** @param claimNames volumes that the pods get beside those of the spec: from the claim templates of a StatefulSet */
export function checkPodSpec(
  spec: PodSpec | undefined | null,
  path: FieldPath,
  report: Report,
  claimNames: readonly (string | undefined)[] = [],
): void {
  if (!spec) {
    report.error(path, "is missing; a pod needs a spec with containers");
    return;
  }
  checkContainers(spec, path, report, claimNames);
  checkRestartPolicy(spec.restartPolicy, [...path, "restartPolicy"], report);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) report.error([...path, "terminationGracePeriodSeconds"], "must not be negative");
  checkLabels(spec.nodeSelector, [...path, "nodeSelector"], report);
  checkAffinity(spec.affinity, [...path, "affinity"], report);
  for (const [index, toleration] of (spec.tolerations ?? []).entries())
    checkToleration(toleration, [...path, "tolerations", index], report);
  checkSpread(spec.topologySpreadConstraints, [...path, "topologySpreadConstraints"], report);
  checkVolumes(spec.volumes, [...path, "volumes"], report);
  checkOverhead(spec.overhead, [...path, "overhead"], report);
}

function checkContainers(spec: PodSpec, path: FieldPath, report: Report, claimNames: readonly (string | undefined)[]): void {
  if (!spec.containers?.length) report.error([...path, "containers"], "is missing; a pod needs at least one container");
  const volumes = new Set([...(spec.volumes ?? []).map(({ name }) => name), ...claimNames]);
  const names = new Set<string>();
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      const at = [...path, list, index];
      checkContainer(container, at, volumes, report);
      if (container?.name && names.has(container.name))
        report.error([...at, "name"], `"${container.name}" is given twice; container names must differ`);
      if (container?.name) names.add(container.name);
      checkRestartPolicy(container?.restartPolicy, [...at, "restartPolicy"], report);
    }
  }
}

function checkContainer(container: Container, path: FieldPath, volumes: ReadonlySet<string | undefined>, report: Report): void {
  if (!container) {
    report.error(path, "is empty; a container needs a name and an image");
    return;
  }
  if (!container.name) report.error([...path, "name"], "is missing; give the container a name");
  else checkText(container.name, dnsLabel, [...path, "name"], report);
  if (!container.image) report.error([...path, "image"], "is missing; name the image to run");
  checkContainerResources(container.resources, [...path, "resources"], report);
  for (const [index, { containerPort, hostPort, protocol }] of (container.ports ?? []).entries()) {
    const at = [...path, "ports", index];
    checkPort(containerPort, [...at, "containerPort"], report);
    if (hostPort) checkPort(hostPort, [...at, "hostPort"], report);
    checkOneOf(protocol, PROTOCOLS, [...at, "protocol"], report);
  }
  const mounts = (container as { readonly volumeMounts?: readonly { readonly name?: string; readonly mountPath?: string }[] }).volumeMounts;
  for (const [index, mount] of (mounts ?? []).entries()) {
    const at = [...path, "volumeMounts", index];
    if (!mount.name || !volumes.has(mount.name))
      report.error([...at, "name"], `"${mount.name ?? ""}" is no volume of this pod; add it to volumes`);
    if (!mount.mountPath) report.error([...at, "mountPath"], "is missing; say where to mount the volume");
  }
}

function checkToleration({ key, operator, value, effect, tolerationSeconds }: Toleration, path: FieldPath, report: Report): void {
  if (key) checkKey(key, [...path, "key"], report);
  checkOneOf(operator, ["Equal", "Exists", "Gt", "Lt"], [...path, "operator"], report);
  if (!key && operator !== "Exists") report.error([...path, "operator"], "must be Exists when key is empty");
  if (operator === "Exists" && value) report.error([...path, "value"], "must be empty with operator Exists");
  if (operator !== "Exists" && value) checkText(value, labelValue, [...path, "value"], report);
  checkOneOf(effect, EFFECTS, [...path, "effect"], report);
  if (tolerationSeconds !== undefined && tolerationSeconds !== null && effect !== "NoExecute") {
    report.error([...path, "effect"], "must be NoExecute when tolerationSeconds is set");
  }
}

function checkSpread(constraints: PodSpec["topologySpreadConstraints"], path: FieldPath, report: Report): void {
  const seen = new Set<string>();
  for (const [index, spread] of (constraints ?? []).entries()) {
    const at = [...path, index];
    if (!(spread.maxSkew > 0)) report.error([...at, "maxSkew"], "must be at least 1");
    if (!spread.topologyKey) report.error([...at, "topologyKey"], "is missing; name a node label such as topology.kubernetes.io/zone");
    else checkKey(spread.topologyKey, [...at, "topologyKey"], report);
    if (!spread.whenUnsatisfiable) report.error([...at, "whenUnsatisfiable"], "is missing; use DoNotSchedule or ScheduleAnyway");
    checkOneOf(spread.whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"], [...at, "whenUnsatisfiable"], report);
    if ((spread.minDomains ?? 1) < 1) report.error([...at, "minDomains"], "must be at least 1");
    if (spread.minDomains && spread.whenUnsatisfiable === "ScheduleAnyway")
      report.error([...at, "minDomains"], "needs whenUnsatisfiable DoNotSchedule");
    checkOneOf(spread.nodeAffinityPolicy, ["Honor", "Ignore"], [...at, "nodeAffinityPolicy"], report);
    checkOneOf(spread.nodeTaintsPolicy, ["Honor", "Ignore"], [...at, "nodeTaintsPolicy"], report);
    checkSelector(spread.labelSelector, [...at, "labelSelector"], report);
    const pair = `${spread.topologyKey} ${spread.whenUnsatisfiable}`;
    if (seen.has(pair)) report.error(at, `repeats topologyKey ${spread.topologyKey} with ${spread.whenUnsatisfiable}; give each pair once`);
    seen.add(pair);
  }
}

function checkVolumes(volumes: readonly Volume[] | undefined | null, path: FieldPath, report: Report): void {
  const names = new Set<string>();
  for (const [index, volume] of (volumes ?? []).entries()) {
    const at = [...path, index];
    if (!volume.name) report.error([...at, "name"], "is missing; give the volume a name");
    else checkText(volume.name, dnsLabel, [...at, "name"], report);
    if (volume.name && names.has(volume.name)) report.error([...at, "name"], `"${volume.name}" is given twice; volume names must differ`);
    names.add(volume.name);
    const sources = Object.entries(volume).filter(([field, value]) => field !== "name" && value !== null && value !== undefined);
    if (sources.length > 1) report.error(at, `has ${sources.length} sources (${sources.map(([field]) => field).join(", ")}); give one`);
    if (volume.persistentVolumeClaim && !volume.persistentVolumeClaim.claimName) {
      report.error([...at, "persistentVolumeClaim", "claimName"], "is missing; name the claim to mount");
    }
  }
}

function checkRestartPolicy(policy: string | undefined, path: FieldPath, report: Report): void {
  checkOneOf(policy, ["Always", "OnFailure", "Never"], path, report);
}

function checkPort(port: number, path: FieldPath, report: Report): void {
  if (!(port >= 1 && port <= 65535)) report.error(path, `must be from 1 to 65535, is ${port ?? "missing"}`);
}

/** Absent and empty are right: the server fills in a default, or another check asks for the field. */
export function checkOneOf(text: string | undefined | null, allowed: readonly string[], path: FieldPath, report: Report): void {
  if (text && !allowed.includes(text)) report.error(path, `"${text}" is not supported; use ${listOf(allowed)}`);
}
