/** What is refused, and in which words. Taken from a real server. */
import type { Method } from "@joinery/kube";
import { type Asked, aMap, aPod, apply, aSpread, aWorkload, container, json, merge, type Value } from "./samples.test-support.ts";

const onNode = (expression: Value): Value => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", ...expression }] }] },
  },
});

interface Refusal {
  readonly why: string;
  readonly ask: readonly [method: Method, path: string, body?: unknown, asked?: Asked];
  readonly status: number;
  readonly reason: string;
  readonly message: string | RegExp;
}

/** Each request is made in a namespace that holds pod `old`, config map `old` and Deployment `w`. */
export const refusals: readonly Refusal[] = [
  { why: "what is not there", ask: ["GET", "pods/none"], status: 404, reason: "NotFound", message: 'pods "none" not found' },
  {
    why: "a name that is taken",
    ask: ["POST", "pods", aPod("old")],
    status: 409,
    reason: "AlreadyExists",
    message: 'pods "old" already exists',
  },
  {
    why: "a pod without containers",
    ask: ["POST", "pods", { metadata: { name: "x" }, spec: {} }],
    status: 422,
    reason: "Invalid",
    message: 'Pod "x" is invalid: spec.containers: Required value',
  },
  {
    why: "a wrong name",
    ask: ["POST", "pods", aPod("A_b")],
    status: 422,
    reason: "Invalid",
    message: /^Pod "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain/,
  },
  {
    why: "no name",
    ask: ["POST", "pods", { metadata: {}, spec: { containers: [container] } }],
    status: 422,
    reason: "Invalid",
    message: /metadata.name: Required value: name or generateName is required/,
  },
  {
    why: "an unknown priority class",
    ask: ["POST", "pods", aPod("x", { priorityClassName: "none" })],
    status: 403,
    reason: "Forbidden",
    message: 'pods "x" is forbidden: no PriorityClass with name none was found',
  },
  {
    why: "a wrong label",
    ask: ["POST", "configmaps", aMap("x", {}, { labels: { a: "b c" } })],
    status: 422,
    reason: "Invalid",
    message: /metadata.labels: Invalid value: "b c": a valid label must be/,
  },
  {
    why: "a wrong finalizer",
    ask: ["PATCH", "configmaps/old", { metadata: { finalizers: ["abc"] } }, { contentType: merge }],
    status: 422,
    reason: "Invalid",
    message: /metadata.finalizers\[0\]: Invalid value: "abc": name is neither/,
  },
  {
    why: "requests above limits",
    ask: ["POST", "pods", aPod("x", { containers: [{ ...container, resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }] })],
    status: 422,
    reason: "Invalid",
    message: /resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1/,
  },
  {
    why: "another kind",
    ask: ["POST", "pods", { apiVersion: "v1", kind: "Podd", metadata: { name: "x" } }],
    status: 400,
    reason: "BadRequest",
    message: /no kind "Podd" is registered for version "v1"/,
  },
  {
    why: "a value of a wrong type",
    ask: ["POST", "pods", { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { containers: 3 } }],
    status: 400,
    reason: "BadRequest",
    message: /cannot be handled as a Pod: json: cannot unmarshal number/,
  },
  {
    why: "an unknown field, strictly",
    ask: ["POST", "pods", aPod("x", { foo: 1 }), { query: { fieldValidation: "Strict" } }],
    status: 400,
    reason: "BadRequest",
    message: /strict decoding error: unknown field "spec.foo"/,
  },
  {
    why: "another namespace",
    ask: ["POST", "pods", aPod("x", {}, { namespace: "other" })],
    status: 400,
    reason: "BadRequest",
    message: "the namespace of the provided object does not match the namespace sent on the request",
  },
  {
    why: "an old version",
    ask: ["PATCH", "configmaps/old", { metadata: { resourceVersion: "1" }, data: { a: "z" } }, { contentType: merge }],
    status: 409,
    reason: "Conflict",
    message: /^Operation cannot be fulfilled on configmaps "old": the object has been modified; please apply/,
  },
  {
    why: "a new name",
    ask: ["PATCH", "configmaps/old", { metadata: { name: "new" } }, { contentType: merge }],
    status: 400,
    reason: "BadRequest",
    message: "the name of the object (new) does not match the name on the URL (old)",
  },
  {
    why: "a changed pod spec",
    ask: ["PATCH", "pods/old", { spec: { hostNetwork: true } }, { contentType: merge }],
    status: 422,
    reason: "Invalid",
    message: /^Pod "old" is invalid: spec: Forbidden: pod updates may not change fields other than/,
  },
  {
    why: "a changed selector",
    ask: [
      "PATCH",
      "apps/v1 deployments/w",
      { spec: { selector: { matchLabels: { app: "z" } }, template: { metadata: { labels: { app: "z" } } } } },
      { contentType: merge },
    ],
    status: 422,
    reason: "Invalid",
    message: 'Deployment.apps "w" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable',
  },
  {
    why: "a selector beside its template",
    ask: [
      "POST",
      "apps/v1 deployments",
      { ...aWorkload("Deployment", { selector: { matchLabels: { app: "z" } } }), metadata: { name: "x" } },
    ],
    status: 422,
    reason: "Invalid",
    message: /`selector` does not match template `labels`/,
  },
  {
    why: "a patch of no known kind",
    ask: ["PATCH", "pods/old", {}, { contentType: "application/x" }],
    status: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
  },
  {
    why: "a JSON patch that does not fit",
    ask: ["PATCH", "pods/old", [{ op: "remove", path: "/spec/none" }], { contentType: json }],
    status: 422,
    reason: "Invalid",
    message: /^the server rejected our request due to an error in our request/,
  },
  {
    why: "an apply without manager",
    ask: ["PATCH", "configmaps/x", aMap("x"), { contentType: apply }],
    status: 422,
    reason: "Invalid",
    message: /fieldManager: Required value: is required for apply patch/,
  },
  {
    why: "an unknown field selector",
    ask: ["GET", "pods", undefined, { query: { fieldSelector: "spec.foo=1" } }],
    status: 400,
    reason: "BadRequest",
    message: "field label not supported: spec.foo",
  },
  {
    why: "a wrong version",
    ask: ["GET", "pods", undefined, { query: { resourceVersion: "abc" } }],
    status: 400,
    reason: "BadRequest",
    message: /invalid resource version/,
  },
  {
    why: "a negative scale",
    ask: ["PATCH", "apps/v1 deployments/w/scale", { spec: { replicas: -1 } }, { contentType: merge }],
    status: 422,
    reason: "Invalid",
    message: /spec.replicas: Invalid value: -1: must be greater than or equal to 0/,
  },
  {
    why: "a match without version",
    ask: ["GET", "pods", undefined, { query: { resourceVersionMatch: "Exact" } }],
    status: 422,
    reason: "Invalid",
    message: /resourceVersionMatch: Forbidden/,
  },
  {
    why: "a Job that always restarts",
    ask: ["POST", "batch/v1 jobs", { metadata: { name: "x" }, spec: { template: { spec: { containers: [container] } } } }],
    status: 422,
    reason: "Invalid",
    message: /spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"/,
  },
  {
    why: "overhead without a runtime class",
    ask: ["POST", "pods", aPod("x", { overhead: { cpu: "1" } })],
    status: 403,
    reason: "Forbidden",
    message: 'pods "x" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  },
  ...["In", "NotIn"].map((operator) => ({
    why: `two node names, ${operator}`,
    ask: ["POST", "pods", aPod("x", { affinity: onNode({ operator, values: ["a", "b"] }) })] as const,
    status: 422,
    reason: "Invalid",
    message:
      /nodeSelectorTerms\[0\].matchFields\[0\].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for/,
  })),
  {
    why: "another field of the node",
    ask: ["POST", "pods", aPod("x", { affinity: onNode({ key: "metadata.uid", operator: "In", values: ["a"] }) })],
    status: 422,
    reason: "Invalid",
    message: /matchFields\[0\].key: Invalid value: "metadata.uid": not a valid field selector key$/,
  },
  {
    why: "a preference of no weight",
    ask: [
      "POST",
      "pods",
      aPod("x", {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 0, preference: { matchExpressions: [{ key: "a", operator: "In", values: [] }] } },
            ],
          },
        },
      }),
    ],
    status: 422,
    reason: "Invalid",
    message: /Execution\[0\].weight: Invalid value: 0: must be in the range 1-100, .*matchExpressions\[0\].values: Required value: must be/,
  },
  {
    why: "label keys without a selector",
    ask: ["POST", "pods", aPod("x", { topologySpreadConstraints: [aSpread({ matchLabelKeys: ["v"] })] })],
    status: 422,
    reason: "Invalid",
    message:
      'Pod "x" is invalid: spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
  },
  {
    why: "label keys that are selected already",
    ask: [
      "POST",
      "pods",
      aPod(
        "x",
        { topologySpreadConstraints: [aSpread({ labelSelector: { matchLabels: { v: "1" } }, matchLabelKeys: ["v"] })] },
        { labels: { v: "1" } },
      ),
    ],
    status: 422,
    reason: "Invalid",
    message:
      'Pod "x" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: "v": exists in both matchLabelKeys and labelSelector',
  },
  {
    why: "a pod that requests less than its containers",
    ask: [
      "POST",
      "pods",
      aPod("x", { resources: { requests: { cpu: "100m" } }, containers: [{ ...container, resources: { requests: { cpu: "2" } } }] }),
    ],
    status: 422,
    reason: "Invalid",
    message:
      'Pod "x" is invalid: spec.resources.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container requests of 2',
  },
  {
    why: "a pod that limits what only containers can",
    ask: ["POST", "pods", aPod("x", { resources: { limits: { "nvidia.com/gpu": "1" } } })],
    status: 422,
    reason: "Invalid",
    message:
      /spec.resources.limits\[nvidia.com\/gpu\]: Unsupported value: "nvidia.com\/gpu": supported values: "cpu", "hugepages-", "memory"$/,
  },
  {
    why: "an event without time, in the newer version",
    ask: [
      "POST",
      "events.k8s.io/v1 events",
      { metadata: { name: "e" }, type: "Normal", reason: "R", action: "A", reportingController: "x/y", reportingInstance: "i" },
    ],
    status: 422,
    reason: "Invalid",
    message: /eventTime: Required value/,
  },
  {
    why: "a range whose defaults are out of order",
    ask: [
      "POST",
      "limitranges",
      {
        metadata: { name: "x" },
        spec: {
          limits: [{ type: "Container", min: { cpu: "3" }, defaultRequest: { cpu: "2" }, default: { cpu: "4" }, max: { cpu: "3" } }],
        },
      },
    ],
    status: 422,
    reason: "Invalid",
    message:
      /defaultRequest\[cpu\]: Invalid value: "2": min value 3 is greater than default request value 2, .*default\[cpu\]: Invalid value: "3": default value 4 is greater than max value 3/,
  },
  {
    why: "an older name of an event's field, in the newer version",
    ask: ["GET", "events.k8s.io/v1 events", undefined, { query: { fieldSelector: "involvedObject.name=x" } }],
    status: 400,
    reason: "BadRequest",
    message: "field label not supported: involvedObject.name",
  },
  {
    why: "a range whose minimum is above its maximum",
    ask: ["POST", "limitranges", { metadata: { name: "x" }, spec: { limits: [{ type: "Pod", max: { cpu: "2" }, min: { cpu: "3" } }] } }],
    status: 422,
    reason: "Invalid",
    message: 'LimitRange "x" is invalid: spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2',
  },
];
