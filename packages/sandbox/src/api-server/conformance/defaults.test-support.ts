/** What is filled in. Taken from a real server. */
import { aPod, aSpread, aWorkload, container, type Value } from "./samples.test-support.ts";

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
