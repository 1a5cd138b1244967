/** What is asked of the API server, and how long it takes. Rule O-240. */
import type { ApiRequest, RequestOutcome } from "@joinery/kube";
import { seconds } from "./core-metrics.ts";
import { Counter, Histogram, type Registry } from "./prometheus.ts";

/** O-240: 1 ms times powers of one and a half, multiplied one by one as Karpenter does, so that `le` is the same text. */
const BUCKETS = [...powers(0.001, 1.5, 20)];
/** What client-go writes in place of a status where no answer came. */
const NO_ANSWER = "<error>";

/** Registers the series; what is given back counts one request. */
export function createClientMetrics(registry: Registry): (outcome: RequestOutcome) => void {
  const requests = new Counter<"code" | "method">({
    name: "client_go_request_total",
    help: "Requests to the API server by status.",
    labelNames: ["code", "method"],
    registers: [registry],
  });
  const durations = new Histogram<"verb" | "group" | "version" | "kind" | "subresource">({
    name: "client_go_request_duration_seconds",
    help: "Duration of requests to the API server.",
    labelNames: ["verb", "group", "version", "kind", "subresource"],
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ request, durationMs, status }) => {
    requests.inc({ code: status === undefined ? NO_ANSWER : String(status), method: request.method });
    durations.observe(labelsOf(request), seconds(durationMs));
  };
}

const VERBS: Readonly<Record<ApiRequest["method"], string>> = {
  GET: "GET",
  POST: "CREATE",
  PUT: "UPDATE",
  PATCH: "PATCH",
  DELETE: "DELETE",
};

/** The parts of `/api/v1/namespaces/<ns>/<kind>/<name>/<subresource>` and of `/apis/<group>/<version>/…`. */
export function labelsOf({ method, path }: ApiRequest) {
  const parts = path.split("/").slice(1);
  const [group = "", version = ""] = parts[0] === "api" ? ["", parts[1]] : [parts[1], parts[2]];
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  // A namespace is itself an object of the kind `namespaces`.
  const [kind = "", name = "", subresource = ""] = rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
  return { verb: method === "GET" && name === "" ? "LIST" : VERBS[method], group, version, kind, subresource };
}

function* powers(first: number, factor: number, count: number): Iterable<number> {
  for (let value = first, n = 0; n < count; n++, value *= factor) yield value;
}
