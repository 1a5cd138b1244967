/** Paths that are no resources: version, health, discovery, OpenAPI. */
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import type { Backend } from "../verbs/backend.ts";
import { answerDiscovery } from "./discovery.ts";
import { answerOpenApi } from "./openapi.ts";

export interface DocumentSource {
  readonly backend: Backend;
  readonly version: string;
}

/** Undefined when the path is none of these. */
export function answerDocument(source: DocumentSource, request: ApiRequest): ApiResponse | undefined {
  if (request.method !== "GET") return undefined;
  const { path } = request;
  if (path === "/version" || path === "/version/") return { status: 200, body: versionOf(source.version) };
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(path)) return { status: 200, headers: { "Content-Type": "text/plain" }, body: "ok" };
  if (path.startsWith("/openapi/")) return answerOpenApi(source.backend.registry, source.version, request);
  return answerDiscovery(source.backend.registry, request);
}

function versionOf(version: string): Record<string, string> {
  const [major = "1", minor = "0"] = version.split(".");
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: "0000000000000000000000000000000000000000",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "none",
    compiler: "none",
    platform: "sandbox",
  };
}
