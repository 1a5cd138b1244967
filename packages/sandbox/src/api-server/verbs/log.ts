/**
 * The `log` subresource. Of containers that are real processes it gives what they have written; the others of the sandbox run no
 * programs, and their log tells the pod's life in a few lines.
 */
import type { Pod } from "@joinery/api";
import { type ApiObject, objectsAt, textAt } from "../objects/json.ts";
import { badRequest } from "../wire/status.ts";
import { type Backend, type Call, isTrue } from "./backend.ts";
import { chosenLines, firstBytes, followLog, type LogLine, type LogWish, lineText } from "./container-log.ts";
import { getObject } from "./read.ts";

/** Text; a stream of it when the reader follows a container that may still write. */
export function readLog(backend: Backend, call: Call): string | ReadableStream<string> {
  const pod = getObject(backend, call);
  const container = containerAsked(pod, call);
  const wish = wishOf(call, backend.clock.wallMs());
  const previous = isAsked(call.query.previous);
  if ((textAt(pod, "spec", "nodeName") ?? "") === "") return "";
  const log = backend.containerLog?.(pod as unknown as Pod, container, previous);
  if (log !== undefined) {
    return isAsked(call.query.follow) ? followLog(log, wish) : shown(log.lines(), wish);
  }
  if (previous) throw badRequest(`previous terminated container "${container}" in pod "${call.target.name}" not found`);
  return shown(lifeOf(pod, container), wish);
}

/** Why nobody gets into a container, nor another one into its pod: `exec`, `attach`, `portforward` and `ephemeralcontainers`. */
export function refuseStream(backend: Backend, call: Call): never {
  const pod = getObject(backend, call);
  const what = call.target.subresource === "ephemeralcontainers" ? "a debug container" : call.target.subresource;
  const [container] = containerNames(pod, "containers");
  if (backend.containerLog?.(pod as unknown as Pod, container ?? "", false) !== undefined) {
    throw badRequest(
      `${what} is not possible: pod ${call.target.name} is a process of this machine without a container around it; "kubectl logs" shows what it writes`,
    );
  }
  throw badRequest(`pods of the sandbox run no processes: ${what} is not possible, see the pod's log for its life`);
}

function containerAsked(pod: ApiObject, { target, query }: Call): string {
  const own = containerNames(pod, "containers");
  const names = [...containerNames(pod, "initContainers"), ...own];
  if (query.container === undefined && own.length > 1) {
    throw badRequest(`a container name must be specified for pod ${target.name}, choose one of: [${names.join(" ")}]`);
  }
  const asked = query.container ?? own[0] ?? "";
  if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${target.name}`);
  return asked;
}

function containerNames(pod: ApiObject, list: "containers" | "initContainers"): string[] {
  return objectsAt(pod, "spec", list).map((container) => textAt(container, "name") ?? "");
}

function wishOf({ query }: Call, nowMs: number): LogWish {
  const { sinceTime, sinceSeconds, timestamps } = query;
  if (sinceTime !== undefined && sinceSeconds !== undefined) throw badRequest("at most one of sinceTime or sinceSeconds may be specified");
  const span = wholeNumber("sinceSeconds", sinceSeconds, 1);
  const sinceMs = span !== undefined ? nowMs - span * 1000 : sinceTime === undefined ? undefined : timeOf(sinceTime);
  const tailLines = wholeNumber("tailLines", query.tailLines, 0);
  const limitBytes = wholeNumber("limitBytes", query.limitBytes, 1);
  return {
    hasTimestamps: isAsked(timestamps),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
  };
}

function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text) || Number(text) < least) throw badRequest(`${name}: "${text}" is no whole number from ${least}`);
  return Number(text);
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw badRequest(`sinceTime: "${text}" is no time such as 2026-01-31T12:00:00Z`);
  return ms;
}

function isAsked(text: string | undefined): boolean {
  return text !== undefined && isTrue(text);
}

function shown(lines: readonly LogLine[], wish: LogWish): string {
  const text = chosenLines(lines, wish)
    .map((line) => lineText(line, wish))
    .join("");
  return wish.limitBytes === undefined ? text : firstBytes(text, wish.limitBytes);
}

/** Of a container that is none. */
function lifeOf(pod: ApiObject, name: string): LogLine[] {
  const statuses = [...objectsAt(pod, "status", "containerStatuses"), ...objectsAt(pod, "status", "initContainerStatuses")];
  const status = statuses.find((candidate) => candidate.name === name);
  const startedAt = textAt(status, "state", "running", "startedAt") ?? textAt(status, "state", "terminated", "startedAt");
  if (startedAt === undefined) {
    const reason = textAt(status, "state", "waiting", "reason") ?? "ContainerCreating";
    throw badRequest(`container "${name}" in pod "${pod.metadata.name}" is waiting to start: ${reason}`);
  }
  const spec = [...objectsAt(pod, "spec", "containers"), ...objectsAt(pod, "spec", "initContainers")].find((one) => one.name === name);
  const place = `${textAt(pod, "spec", "nodeName")} (simulated, image ${textAt(spec, "image") ?? "none"})`;
  const finishedAt = textAt(status, "state", "terminated", "finishedAt");
  return [
    { atMs: Date.parse(startedAt), text: `${name}: started ${startedAt} on ${place}` },
    ...(finishedAt === undefined ? [] : [{ atMs: Date.parse(finishedAt), text: `${name}: finished ${finishedAt}` }]),
  ];
}
