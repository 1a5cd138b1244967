/** Questions about who may do what. The sandbox knows no roles: every authenticated user may do everything. */
import { formatTime } from "@joinery/api";
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import { isObject, type JsonObject, numberAt } from "../objects/json.ts";
import type { Backend, Call } from "./backend.ts";
import { getObject } from "./read.ts";

const user = { username: "admin", groups: ["system:masters", "system:authenticated"] };

const reviews: Readonly<Record<string, { readonly kind: string; readonly status: JsonObject }>> = {
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": { kind: "SelfSubjectAccessReview", status: { allowed: true } },
  "/apis/authorization.k8s.io/v1/subjectaccessreviews": { kind: "SubjectAccessReview", status: { allowed: true } },
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews": {
    kind: "SelfSubjectRulesReview",
    status: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    },
  },
  "/apis/authentication.k8s.io/v1/selfsubjectreviews": { kind: "SelfSubjectReview", status: { userInfo: user } },
  "/apis/authentication.k8s.io/v1/tokenreviews": { kind: "TokenReview", status: { authenticated: true, user } },
};

/** Undefined when the request is no review. */
export function review(backend: Backend, { method, path, body }: ApiRequest): ApiResponse | undefined {
  const found = method === "POST" ? reviews[path] : undefined;
  if (found === undefined) return undefined;
  const spec = isObject(body) && isObject(body.spec) ? body.spec : {};
  const apiVersion = path.split("/").slice(2, 4).join("/");
  return {
    status: 201,
    body: { kind: found.kind, apiVersion, metadata: { creationTimestamp: backend.nowText() }, spec, status: found.status },
  };
}

/** A token of a service account. It authenticates nobody: the server takes its own tokens only. */
export function issueToken(backend: Backend, call: Call): JsonObject {
  const account = getObject(backend, call);
  const seconds = numberAt(call.body, "spec", "expirationSeconds") ?? 3600;
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: account.metadata.name ?? null, namespace: account.metadata.namespace ?? null },
    spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: seconds },
    status: { token: `sandbox.${account.metadata.uid}`, expirationTimestamp: formatTime(backend.clock.wallMs() + seconds * 1000) },
  };
}
