/** The tables of the API-server suite: what is refused, in which words, and what is filled in. Taken from a real server. */
import type { Method } from "@joinery/kube";

export type Value = Record<string, unknown>;

export interface Asked {
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
}

export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const json = "application/json-patch+json";
export const apply = "application/apply-patch+yaml";

export const container = { name: "a", image: "b:1" };
export const aPod = (name: string, spec: Value = {}, metadata: Value = {}): Value => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
});
export const aMap = (name: string, data: Value = {}, metadata: Value = {}): Value => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
export const aWorkload = (kind: string, spec: Value = {}): Value => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "w" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "w" } },
    template: { metadata: { labels: { app: "w" } }, spec: { containers: [container] } },
    ...spec,
  },
});

const onNode = (expression: Value): Value => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", ...expression }] }] },
  },
});
const aSpread = (more: Value): Value => ({ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule", ...more });

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

interface Default {
  readonly of: string;
  readonly post: readonly [path: string, body: Value];
  readonly has: Value;
}

export const defaults: readonly Default[] = [
  {
    of: "a pod",
    post: [
      "pods",
      aPod("x", {
        containers: [{ name: "a", image: "b", ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }],
      }),
    ],
    has: {
      spec: {
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        schedulerName: "default-scheduler",
        enableServiceLinks: true,
        priority: 0,
        preemptionPolicy: "PreemptLowerPriority",
        containers: [
          {
            imagePullPolicy: "Always",
            ports: [{ containerPort: 80, protocol: "TCP" }],
            resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } },
          },
        ],
        tolerations: [
          { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
          { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
        ],
      },
      status: { phase: "Pending", qosClass: "Guaranteed" },
    },
  },
  {
    of: "a gated pod",
    post: ["pods", aPod("x", { schedulingGates: [{ name: "g" }] })],
    has: { status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } },
  },
  {
    of: "a Deployment",
    post: ["apps/v1 deployments", aWorkload("Deployment")],
    has: {
      metadata: { generation: 1 },
      spec: {
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
      },
    },
  },
  {
    of: "a StatefulSet",
    post: ["apps/v1 statefulsets", aWorkload("StatefulSet", { serviceName: "s" })],
    has: { spec: { podManagementPolicy: "OrderedReady", updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } } } },
  },
  {
    of: "a DaemonSet",
    post: ["apps/v1 daemonsets", aWorkload("DaemonSet", { replicas: undefined })],
    has: { spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } },
  },
  {
    of: "a Job",
    post: ["batch/v1 jobs", { metadata: { name: "j" }, spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } }],
    has: {
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: "NonIndexed",
        suspend: false,
        template: { metadata: { labels: { "batch.kubernetes.io/job-name": "j", "job-name": "j" } } },
      },
    },
  },
  {
    of: "a service",
    post: ["services", { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } }],
    has: { spec: { type: "ClusterIP", sessionAffinity: "None", ports: [{ port: 80, targetPort: 80, protocol: "TCP" }] } },
  },
  { of: "a secret", post: ["secrets", { metadata: { name: "s" }, stringData: { a: "b" } }], has: { type: "Opaque", data: { a: "Yg==" } } },
  {
    of: "a claim",
    post: [
      "persistentvolumeclaims",
      { metadata: { name: "c" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } } },
    ],
    has: {
      metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
      spec: { volumeMode: "Filesystem", resources: { requests: { storage: "1Gi" } } },
      status: { phase: "Pending" },
    },
  },
  {
    of: "label keys of spreads and affinity",
    post: [
      "pods",
      aPod(
        "x",
        {
          topologySpreadConstraints: [
            aSpread({ labelSelector: { matchLabels: { app: "a" } }, matchLabelKeys: ["v", "none"] }),
            aSpread({ topologyKey: "y", labelSelector: { matchExpressions: [{ key: "v", operator: "Exists" }] }, matchLabelKeys: ["app"] }),
          ],
          affinity: {
            podAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, podAffinityTerm: { topologyKey: "z", labelSelector: {}, matchLabelKeys: ["v"] } },
              ],
            },
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: "z", labelSelector: { matchLabels: { q: "a" } }, matchLabelKeys: ["app"], mismatchLabelKeys: ["v"] },
              ],
            },
          },
        },
        { labels: { app: "a", v: "1" } },
      ),
    ],
    has: {
      spec: {
        topologySpreadConstraints: [
          {
            labelSelector: { matchLabels: { app: "a" }, matchExpressions: [{ key: "v", operator: "In", values: ["1"] }] },
            matchLabelKeys: ["v", "none"],
          },
          {
            labelSelector: {
              matchExpressions: [
                { key: "v", operator: "Exists" },
                { key: "app", operator: "In", values: ["a"] },
              ],
            },
          },
        ],
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { podAffinityTerm: { labelSelector: { matchExpressions: [{ key: "v", operator: "In", values: ["1"] }] } } },
            ],
          },
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                labelSelector: {
                  matchExpressions: [
                    { key: "app", operator: "In", values: ["a"] },
                    { key: "v", operator: "NotIn", values: ["1"] },
                  ],
                },
              },
            ],
          },
        },
      },
    },
  },
  {
    of: "label keys of a template, which stay as they are",
    post: [
      "apps/v1 deployments",
      aWorkload("Deployment", {
        template: {
          metadata: { labels: { app: "w" } },
          spec: {
            containers: [container],
            topologySpreadConstraints: [aSpread({ labelSelector: { matchLabels: { app: "w" } }, matchLabelKeys: ["app"] })],
          },
        },
      }),
    ],
    has: { spec: { template: { spec: { topologySpreadConstraints: [{ labelSelector: { matchLabels: { app: "w" } } }] } } } },
  },
  {
    of: "a pod with resources of its own, from its containers",
    post: [
      "pods",
      aPod("x", {
        resources: { limits: { cpu: "2", memory: "2Gi" } },
        initContainers: [{ name: "i", image: "b:1", resources: { requests: { cpu: "1", memory: "64Mi" } } }],
        containers: [
          { ...container, resources: { requests: { cpu: "100m", memory: "10Mi" } } },
          { ...container, name: "c", resources: { requests: { cpu: "200m" } } },
        ],
      }),
    ],
    has: {
      spec: { resources: { limits: { cpu: "2", memory: "2Gi" }, requests: { cpu: "1", memory: "64Mi" } } },
      status: { qosClass: "Burstable" },
    },
  },
  {
    of: "a pod with resources of its own, from its limits",
    post: ["pods", aPod("x", { resources: { limits: { cpu: "2", memory: "2Gi" } } })],
    has: { spec: { resources: { requests: { cpu: "2", memory: "2Gi" } } }, status: { qosClass: "Guaranteed" } },
  },
  {
    of: "a limit range",
    post: [
      "limitranges",
      { metadata: { name: "x" }, spec: { limits: [{ type: "Container", min: { cpu: "100m", memory: "10Mi" }, max: { cpu: "2" } }] } },
    ],
    has: { spec: { limits: [{ default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "10Mi" } }] } },
  },
];
