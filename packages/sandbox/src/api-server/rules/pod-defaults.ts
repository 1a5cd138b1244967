/** What the server fills into pods and pod templates when they leave it out. */
import { ensureObject, isObject, type JsonObject, objectAt, objectsAt, setDefault, textAt } from "../objects/json.ts";
import { aggregateRequests, isPodLevel } from "./pod-resources.ts";

/** Fills a pod spec draft; the same for pods and for templates of workloads. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "schedulerName", "default-scheduler");
  setDefault(spec, "securityContext", {});
  defaultServiceAccountAlias(spec);
  const isHostNetwork = spec.hostNetwork === true;
  for (const key of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of objectsAt(spec, key)) defaultContainer(container, isHostNetwork);
  }
  for (const volume of objectsAt(spec, "volumes")) defaultVolume(volume);
  for (const spread of objectsAt(spec, "topologySpreadConstraints")) {
    // Absent policies mean Honor and Ignore; the server leaves them absent.
    setDefault(spread, "maxSkew", 1);
  }
}

/** What only real pods get, not templates. */
export function defaultPod(spec: JsonObject): void {
  setDefault(spec, "enableServiceLinks", true);
  for (const key of ["initContainers", "containers"]) {
    for (const container of objectsAt(spec, key)) requestsFromLimits(container);
  }
  defaultPodRequests(spec);
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are kept equal. */
/** Writes only what differs: on a write of the status the spec is that of the stored object, which is never written to. */
function defaultServiceAccountAlias(spec: JsonObject): void {
  const name = textAt(spec, "serviceAccountName") ?? textAt(spec, "serviceAccount");
  if (name === undefined || name === "") return;
  if (spec.serviceAccountName !== name) spec.serviceAccountName = name;
  if (spec.serviceAccount !== name) spec.serviceAccount = name;
}

function defaultContainer(container: JsonObject, isHostNetwork: boolean): void {
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "imagePullPolicy", pullPolicy(textAt(container, "image") ?? ""));
  setDefault(container, "resources", {});
  for (const port of objectsAt(container, "ports")) {
    setDefault(port, "protocol", "TCP");
    if (isHostNetwork && port.containerPort !== undefined) setDefault(port, "hostPort", port.containerPort);
  }
  for (const variable of objectsAt(container, "env")) {
    const reference = objectAt(variable, "valueFrom", "fieldRef");
    if (reference !== undefined) setDefault(reference, "apiVersion", "v1");
  }
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[key];
    if (isObject(probe)) defaultProbe(probe);
  }
}

function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

function defaultProbe(probe: JsonObject): void {
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
  if (isObject(probe.httpGet)) {
    setDefault(probe.httpGet, "path", "/");
    setDefault(probe.httpGet, "scheme", "HTTP");
  }
}

const modeOfFiles = 0o644;

function defaultVolume(volume: JsonObject): void {
  for (const source of ["configMap", "secret", "downwardAPI", "projected"]) {
    const found = volume[source];
    if (isObject(found)) setDefault(found, "defaultMode", modeOfFiles);
  }
  if (isObject(volume.hostPath)) setDefault(volume.hostPath, "type", "");
  if (Object.keys(volume).length === 1 && volume.name !== undefined) volume.emptyDir = {};
  const claim = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
  if (claim !== undefined) setDefault(claim, "volumeMode", "Filesystem");
  for (const source of objectsAt(volume, "projected", "sources")) {
    if (isObject(source.serviceAccountToken)) setDefault(source.serviceAccountToken, "expirationSeconds", 3600);
  }
}

/** A pod that speaks of resources as a whole requests, where it does not say, what its containers do, or else its limit. */
function defaultPodRequests(spec: JsonObject): void {
  const limits = objectAt(spec, "resources", "limits") ?? {};
  const given = objectAt(spec, "resources", "requests") ?? {};
  if (Object.keys(limits).length === 0 && Object.keys(given).length === 0) return;
  const wishes = { ...limits, ...aggregateRequests(spec) };
  for (const [name, quantity] of Object.entries(wishes)) {
    if (isPodLevel(name)) setDefault(ensureObject(ensureObject(spec, "resources"), "requests"), name, quantity);
  }
}

function requestsFromLimits(container: JsonObject): void {
  const limits = objectAt(container, "resources", "limits");
  if (limits === undefined) return;
  const requests = ensureObject(ensureObject(container, "resources"), "requests");
  for (const [name, quantity] of Object.entries(limits)) setDefault(requests, name, quantity);
}
