/** What the server fills into workloads, and LimitRanges. */
import { describe, expect, test } from "vitest";
import type { Suite } from "./desk.test-support.ts";
import { aPod, container, merge, type Value } from "./samples.test-support.ts";

export function describeWorkloads({ name, desk }: Suite): void {
  describe(`${name}: daemon sets`, () => {
    test("count their templates in an annotation that nobody else can set", async () => {
      const here = await desk();
      const key = "deprecated.daemonset.template.generation";
      const selector = { matchLabels: { app: "w" } };
      const template = {
        metadata: { labels: { app: "w" } },
        spec: { nodeSelector: { "joinery.dev/none": "here" }, containers: [container] },
      };
      const answer = await here.ask("POST", here.path("apps/v1 daemonsets"), { metadata: { name: "w" }, spec: { selector, template } });
      const counted = (body: unknown) => (body as { metadata: { annotations?: Value } }).metadata.annotations?.[key];
      expect(counted(answer.body)).toBe("1");
      const change = async (patch: Value) => {
        const said = await here.ask("PATCH", here.path("apps/v1 daemonsets/w"), patch, { contentType: merge });
        return counted(said.body);
      };
      expect(await change({ spec: { minReadySeconds: 3 } })).toBe("1");
      expect(await change({ spec: { template: { metadata: { labels: { b: "c" } } } } })).toBe("2");
      expect(await change({ metadata: { annotations: { [key]: "9" } } })).toBe("2");
      expect(await change({ metadata: { annotations: { [key]: null } } })).toBe("2");
    });
  });

  describe(`${name}: limit ranges`, () => {
    const bounds = [
      { type: "Container", min: { memory: "10Mi" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "4" } },
      { type: "Pod", max: { cpu: "3" } },
      { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "10Gi" } },
    ];
    const asking = (requests: Value, limits: Value) => ({ ...container, resources: { requests, limits } });
    const claim = (storage: string) => ({
      metadata: { name: "x" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
    });
    test.each([
      [
        "pods",
        aPod("x", { containers: [asking({ memory: "1Mi" }, {})] }),
        'pods "x" is forbidden: minimum memory usage per Container is 10Mi, but request is 1Mi',
      ],
      [
        "pods",
        aPod("x", { containers: [asking({ cpu: "4" }, { cpu: "5" })] }),
        'pods "x" is forbidden: [maximum cpu usage per Container is 2, but limit is 5, maximum cpu usage per Pod is 3, but limit is 5]',
      ],
      [
        "pods",
        aPod("x", { containers: [asking({ cpu: "200m" }, { cpu: "2" })] }),
        'pods "x" is forbidden: cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000',
      ],
      [
        "pods",
        aPod("x", { containers: [asking({}, { cpu: "2" }), { ...asking({}, { cpu: "2" }), name: "c" }] }),
        'pods "x" is forbidden: maximum cpu usage per Pod is 3, but limit is 4',
      ],
      [
        "persistentvolumeclaims",
        claim("100Mi"),
        'persistentvolumeclaims "x" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 100Mi',
      ],
      [
        "persistentvolumeclaims",
        claim("1Ti"),
        'persistentvolumeclaims "x" is forbidden: maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 1Ti',
      ],
    ])("refuse %s: %j", async (kind, body, message) => {
      const here = await desk();
      await here.ask("POST", here.path("limitranges"), { metadata: { name: "l" }, spec: { limits: bounds } });
      await expect.poll(async () => (await here.ask("POST", here.path(kind), body)).body, { timeout: 5000 }).toMatchObject({ message });
    });

    test("give containers what they leave out, and say so", async () => {
      const here = await desk();
      const limits = [{ type: "Container", default: { memory: "512Mi" }, defaultRequest: { cpu: "1" } }];
      await here.ask("POST", here.path("limitranges"), { metadata: { name: "l" }, spec: { limits } });
      await expect
        .poll(async () => (await here.ask("POST", here.path("pods"), aPod("x"), { query: { dryRun: "All" } })).body, { timeout: 5000 })
        .toMatchObject({
          metadata: {
            annotations: {
              "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory request for container a; memory limit for container a",
            },
          },
          spec: { containers: [{ resources: { limits: { memory: "512Mi" }, requests: { cpu: "1", memory: "512Mi" } } }] },
        });
    });
  });
}
