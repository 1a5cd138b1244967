/**
 * What an API server must do, asked through a `Transport`, so that the same suite can be run against a real one.
 * Each case works in a namespace of its own and leaves nothing behind that another case would see.
 */
import type { ApiResponse, Method, Transport } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import {
  type Asked,
  aMap,
  aPod,
  apply,
  aWorkload,
  container,
  defaults,
  json,
  merge,
  refusals,
  strategic,
  type Value,
} from "./conformance-cases.test-support.ts";

/** A way to one namespace of a server. */
interface Desk {
  readonly namespace: string;
  ask(method: Method, path: string, body?: unknown, asked?: Asked): Promise<ApiResponse>;
  /** Path of a namespaced collection or object, e.g. `pods/a` or `apps/v1 deployments/web`. */
  path(text: string): string;
}

async function openDesk(transport: Transport, prefix: string): Promise<Desk> {
  const made = await transport.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { generateName: `${prefix}-` } } });
  expect(made.status).toBe(201);
  const namespace = (made.body as { metadata: { name: string } }).metadata.name;
  return {
    namespace,
    ask: (method, path, body, asked = {}) => transport.send({ method, path, ...(body === undefined ? {} : { body }), ...asked }),
    path: (text) => {
      const [api, rest] = text.includes(" ") ? (text.split(" ") as [string, string]) : ["v1", text];
      return `${api === "v1" ? "/api/v1" : `/apis/${api}`}/namespaces/${namespace}/${rest}`;
    },
  };
}

/** @param open gives a way to the server under test; called once per case */
export function describeApiServer(name: string, prefix: string, open: () => Promise<Transport> | Transport): void {
  const desk = async () => openDesk(await open(), prefix);

  describe(`${name}: refuses`, () => {
    test.each(refusals)("$why", async ({ ask: [method, path, body, asked], status, reason, message }) => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("old"));
      await here.ask("POST", here.path("configmaps"), aMap("old", { a: "b" }));
      await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment"));
      const answer = await here.ask(method, here.path(path), body, asked);
      const said = answer.body as { kind: string; status: string; reason: string; code: number; message: string };
      expect(answer.status, said.message).toBe(status);
      expect(said).toMatchObject({ kind: "Status", status: "Failure", reason, code: status });
      if (typeof message === "string") expect(said.message).toBe(message);
      else expect(said.message).toMatch(message);
    });

    test("new objects in a namespace that is not there or goes", async () => {
      const here = await desk();
      const missing = await here.ask("POST", "/api/v1/namespaces/not-there/pods", aPod("x"));
      expect(missing.body).toMatchObject({ code: 404, message: 'namespaces "not-there" not found' });
      await here.ask("POST", here.path("configmaps"), aMap("stay", {}, { finalizers: ["joinery.dev/stay"] }));
      await here.ask("DELETE", `/api/v1/namespaces/${here.namespace}`);
      const late = await here.ask("POST", here.path("configmaps"), aMap("x"));
      expect(late.body).toMatchObject({ code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } });
      await here.ask("PATCH", here.path("configmaps/stay"), { metadata: { finalizers: null } }, { contentType: merge });
    });
  });

  describe(`${name}: fills in`, () => {
    test.each(defaults)("$of", async ({ post: [path, body], has }) => {
      const here = await desk();
      const answer = await here.ask("POST", here.path(path), body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      expect(answer.body).toMatchObject(has);
    });
  });

  describe(`${name}: versions`, () => {
    test("a write that changes nothing is none; generation counts changes of the spec alone", async () => {
      const here = await desk();
      const made = (await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment", { paused: true }))).body as Meta;
      const path = here.path("apps/v1 deployments/w");
      const labelled = (await here.ask("PATCH", path, { metadata: { labels: { a: "b" } } }, { contentType: merge })).body as Meta;
      const again = (await here.ask("PATCH", path, { metadata: { labels: { a: "b" } } }, { contentType: merge })).body as Meta;
      const grown = (await here.ask("PATCH", path, { spec: { minReadySeconds: 3 } }, { contentType: merge })).body as Meta;
      expect(made.metadata.generation).toBe(1);
      expect(labelled.metadata.generation).toBe(1);
      expect(again.metadata.generation).toBe(1);
      expect(grown.metadata.generation).toBe(2);
      const map = (await here.ask("POST", here.path("configmaps"), aMap("m", { a: "b" }))).body as Meta;
      const same = (await here.ask("PATCH", here.path("configmaps/m"), { data: { a: "b" } }, { contentType: merge })).body as Meta;
      expect(same.metadata.resourceVersion).toBe(map.metadata.resourceVersion);
    });

    test("pages are one snapshot, whatever happens between them", async () => {
      const here = await desk();
      for (const name of ["a", "b", "c", "d", "e"])
        await here.ask("POST", here.path("configmaps"), aMap(name, {}, { labels: { mine: "yes" } }));
      const query = { limit: "2", labelSelector: "mine" };
      const first = (await here.ask("GET", here.path("configmaps"), undefined, { query })).body as List;
      expect(namesOf(first)).toEqual(["a", "b"]);
      await here.ask("DELETE", here.path("configmaps/c"));
      await here.ask("POST", here.path("configmaps"), aMap("d1", {}, { labels: { mine: "yes" } }));
      const second = (
        await here.ask("GET", here.path("configmaps"), undefined, { query: { ...query, continue: first.metadata.continue ?? "" } })
      ).body as List;
      expect(namesOf(second)).toEqual(["c", "d"]);
      const third = (
        await here.ask("GET", here.path("configmaps"), undefined, { query: { ...query, continue: second.metadata.continue ?? "" } })
      ).body as List;
      expect(namesOf(third)).toEqual(["e"]);
      expect(third.metadata.continue ?? "").toBe("");
      const now = (await here.ask("GET", here.path("configmaps"), undefined, { query: { labelSelector: "mine" } })).body as List;
      expect(namesOf(now)).toEqual(["a", "b", "d", "d1", "e"]);
    });

    test("dry runs answer as if, and store nothing", async () => {
      const here = await desk();
      const answer = await here.ask("POST", here.path("configmaps"), aMap("dry"), { query: { dryRun: "All" } });
      expect(answer.status).toBe(201);
      expect((await here.ask("GET", here.path("configmaps/dry"))).status).toBe(404);
    });
  });

  describe(`${name}: selectors`, () => {
    test.each([
      { labelSelector: "a=1", names: ["x"] },
      { labelSelector: "a!=1", names: ["y", "z"] },
      { labelSelector: "a in (1,2)", names: ["x", "y"] },
      { labelSelector: "a notin (1),b", names: ["z"] },
      { labelSelector: "!a", names: ["z"] },
      { labelSelector: "a,b!=2", names: ["x", "y"] },
      { fieldSelector: "metadata.name=y", names: ["y"] },
      { fieldSelector: "metadata.name!=y", labelSelector: "a", names: ["x"] },
    ])("$labelSelector $fieldSelector", async ({ names, ...query }) => {
      const here = await desk();
      for (const [item, labels] of [
        ["x", { a: "1" }],
        ["y", { a: "2" }],
        ["z", { b: "1" }],
      ] as const) {
        await here.ask("POST", here.path("secrets"), { metadata: { name: item, labels } });
      }
      const asked = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Record<string, string>;
      expect(namesOf((await here.ask("GET", here.path("secrets"), undefined, { query: asked })).body as List)).toEqual(names);
    });
  });

  describe(`${name}: patches`, () => {
    test.each([
      { kind: merge, patch: { data: { a: null, c: "3" } }, data: { b: "2", c: "3" } },
      { kind: strategic, patch: { data: { a: null, c: "3" } }, data: { b: "2", c: "3" } },
      { kind: strategic, patch: { data: { $patch: "replace", z: "1" } }, data: { z: "1" } },
      {
        kind: json,
        patch: [
          { op: "move", from: "/data/a", path: "/data/z" },
          { op: "test", path: "/data/b", value: "2" },
        ],
        data: { b: "2", z: "1" },
      },
    ])("$kind $patch", async ({ kind, patch, data }) => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", { a: "1", b: "2" }));
      const answer = await here.ask("PATCH", here.path("configmaps/m"), patch, { contentType: kind });
      expect(answer.body).toMatchObject({ data });
      expect((answer.body as { data: Value }).data).toEqual(data);
    });

    const env = (names: string[]) => names.map((item) => ({ name: item, value: "v" }));
    test.each([
      { rule: "items merge by key", patch: { env: env(["c"]) }, names: ["c", "a", "b"] },
      { rule: "an item is deleted", patch: { env: [{ name: "a", $patch: "delete" }] }, names: ["b"] },
      { rule: "the list is replaced", patch: { env: [{ $patch: "replace" }, ...env(["z"])] }, names: ["z"] },
      {
        rule: "the order is given",
        patch: { env: env(["c"]), "$setElementOrder/env": [{ name: "c" }, { name: "b" }, { name: "a" }] },
        names: ["c", "b", "a"],
      },
    ])("strategic: $rule", async ({ patch, names }) => {
      const here = await desk();
      const spec = aWorkload("ReplicaSet").spec as Value;
      const template = { metadata: { labels: { app: "w" } }, spec: { containers: [{ ...container, env: env(["a", "b"]) }] } };
      await here.ask("POST", here.path("apps/v1 replicasets"), { ...aWorkload("ReplicaSet"), spec: { ...spec, template } });
      const body = { spec: { template: { spec: { containers: [{ name: "a", ...patch }] } } } };
      const answer = await here.ask("PATCH", here.path("apps/v1 replicasets/w"), body, { contentType: strategic });
      const patched = answer.body as { spec: { template: { spec: { containers: { env: { name: string }[] }[] } } } };
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(patched.spec.template.spec.containers[0]?.env.map((item) => item.name)).toEqual(names);
    });

    test("paths behind the object are not followed", async () => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", { a: "1" }));
      const patch = [{ op: "add", path: "/__proto__/polluted", value: "yes" }];
      expect((await here.ask("PATCH", here.path("configmaps/m"), patch, { contentType: json })).status).toBeGreaterThanOrEqual(400);
      expect(({} as Value).polluted).toBeUndefined();
    });

    test("apply: conflicts, force, and fields that are no longer wished", async () => {
      const here = await desk();
      const path = here.path("configmaps/m");
      const as = (manager: string, force = "false") => ({ contentType: apply, query: { fieldManager: manager, force } });
      expect((await here.ask("PATCH", path, aMap("m", { a: "1", b: "2" }), as("one"))).status).toBe(201);
      const conflict = await here.ask("PATCH", path, aMap("m", { a: "9" }), as("two"));
      expect(conflict.body).toMatchObject({
        code: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] },
      });
      expect((await here.ask("PATCH", path, aMap("m", { a: "9" }), as("two", "true"))).body).toMatchObject({ data: { a: "9", b: "2" } });
      const left = (await here.ask("PATCH", path, aMap("m", { c: "3" }), as("one"))).body as { data: Value };
      expect(left.data).toEqual({ a: "9", c: "3" });
    });
  });

  describe(`${name}: deletion`, () => {
    test("a pod without node goes at once; a bound one waits for its kubelet", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("free", { schedulerName: "none" }));
      await here.ask("DELETE", here.path("pods/free"));
      expect((await here.ask("GET", here.path("pods/free"))).status).toBe(404);
      await here.ask("POST", here.path("pods"), aPod("bound", { nodeName: "not-there", terminationGracePeriodSeconds: 7 }));
      const going = (await here.ask("DELETE", here.path("pods/bound"))).body as Meta;
      expect(going.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, deletionTimestamp: expect.any(String) });
      await here.ask("DELETE", here.path("pods/bound"), { gracePeriodSeconds: 0 });
      expect((await here.ask("GET", here.path("pods/bound"))).status).toBe(404);
    });

    test("finalizers hold; none may be added then; the last one lets go", async () => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", {}, { finalizers: ["joinery.dev/a"] }));
      const path = here.path("configmaps/m");
      expect((await here.ask("DELETE", path)).body).toMatchObject({
        kind: "ConfigMap",
        metadata: { deletionTimestamp: expect.any(String) },
      });
      const more = await here.ask("PATCH", path, { metadata: { finalizers: ["joinery.dev/a", "joinery.dev/b"] } }, { contentType: merge });
      expect(more.body).toMatchObject({ code: 422, message: /no new finalizers can be added if the object is being deleted/ });
      await here.ask("PATCH", path, { metadata: { finalizers: null } }, { contentType: merge });
      expect((await here.ask("GET", path)).status).toBe(404);
    });

    test("a collection, by selector", async () => {
      const here = await desk();
      for (const item of ["a", "b", "c"])
        await here.ask("POST", here.path("secrets"), { metadata: { name: item, labels: { keep: item === "b" ? "yes" : "no" } } });
      await here.ask("DELETE", here.path("secrets"), undefined, { query: { labelSelector: "keep=no" } });
      expect(namesOf((await here.ask("GET", here.path("secrets"))).body as List)).toEqual(["b"]);
    });
  });

  describe(`${name}: subresources`, () => {
    test("scale shows and sets the replicas", async () => {
      const here = await desk();
      await here.ask(
        "POST",
        here.path("apps/v1 statefulsets"),
        aWorkload("StatefulSet", {
          serviceName: "s",
          replicas: 2,
          template: { metadata: { labels: { app: "w" } }, spec: { schedulerName: "none", containers: [container] } },
        }),
      );
      const path = here.path("apps/v1 statefulsets/w/scale");
      expect((await here.ask("GET", path)).body).toMatchObject({ kind: "Scale", spec: { replicas: 2 }, status: { selector: "app=w" } });
      expect((await here.ask("PATCH", path, { spec: { replicas: 1 } }, { contentType: merge })).body).toMatchObject({
        spec: { replicas: 1 },
      });
      expect((await here.ask("GET", here.path("apps/v1 statefulsets/w"))).body).toMatchObject({ spec: { replicas: 1 } });
    });

    test("status and spec have different writers", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const byStatus = await here.ask(
        "PATCH",
        here.path("pods/p/status"),
        { spec: { priority: 9 }, status: { phase: "Running" } },
        { contentType: merge },
      );
      expect(byStatus.body).toMatchObject({ spec: { priority: 0 }, status: { phase: "Running" } });
      const bySpec = await here.ask(
        "PATCH",
        here.path("pods/p"),
        { metadata: { labels: { a: "b" } }, status: { phase: "Failed" } },
        { contentType: merge },
      );
      expect(bySpec.body).toMatchObject({ metadata: { labels: { a: "b" } }, status: { phase: "Running" } });
    });

    test("a pod is bound once", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const binding = { metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
      expect((await here.ask("POST", here.path("pods/p/binding"), binding)).status).toBe(201);
      expect((await here.ask("GET", here.path("pods/p"))).body).toMatchObject({
        spec: { nodeName: "n" },
        status: { conditions: [{ type: "PodScheduled", status: "True" }] },
      });
      expect((await here.ask("POST", here.path("pods/p/binding"), binding)).status).toBe(409);
    });

    test("a binding brings the node's zone and region, and is no new generation", async () => {
      const here = await desk();
      const node = `${here.namespace}-node`;
      const labels = { "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r", "topology.kubernetes.io/rack": "7" };
      await here.ask("POST", "/api/v1/nodes", { metadata: { name: node, labels }, spec: { unschedulable: true } });
      const own = { "topology.kubernetes.io/zone": "mine" };
      const made = (await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }, { labels: own }))).body as Meta;
      const metadata = { name: "p", annotations: { note: "yes" }, labels: { also: "yes" } };
      await here.ask("POST", here.path("pods/p/binding"), { metadata, target: { kind: "Node", name: node } });
      const bound = (await here.ask("GET", here.path("pods/p"))).body as Meta;
      const copied = { "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r" };
      expect(bound.metadata).toMatchObject({ generation: made.metadata.generation, annotations: { note: "yes" } });
      expect(bound.metadata.labels).toEqual({ also: "yes", ...copied });
      const born = (await here.ask("POST", here.path("pods"), aPod("born", { nodeName: node }))).body as Meta;
      expect(born.metadata.labels).toEqual(copied);
      for (const name of ["p", "born"]) await here.ask("DELETE", here.path(`pods/${name}`), { gracePeriodSeconds: 0 });
      await here.ask("DELETE", `/api/v1/nodes/${node}`);
    });
  });

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

  describe(`${name}: custom resources`, () => {
    test("what an update leaves as it is stored is not judged again, and a list map has no order", async () => {
      const here = await desk();
      const group = `${here.namespace}.joinery.dev`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const definition = (maximum: number) => ({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `rats.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "rats", singular: "rat", kind: "Rat" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: ratSchema(maximum) } }],
        },
      });
      expect((await here.ask("POST", definitions, definition(100))).status).toBe(201);
      const rat = {
        apiVersion: `${group}/v1`,
        kind: "Rat",
        metadata: { name: "r" },
        spec: { parts: [part("a", 1), part("b", 99)], set: ["x", "y"] },
      };
      const rats = here.path(`${group}/v1 rats`);
      await expect.poll(async () => (await here.ask("POST", rats, rat)).status, { timeout: 10_000 }).toBe(201);
      const tighter = { spec: definition(10).spec };
      await here.ask("PATCH", `${definitions}/rats.${group}`, tighter, { contentType: merge });
      const another = { ...rat, metadata: { name: "other" } };
      await expect
        .poll(async () => (await here.ask("POST", rats, another, { query: { dryRun: "All" } })).status, { timeout: 10_000 })
        .toBe(422);
      const change = async (spec: Value) => (await here.ask("PATCH", `${rats}/r`, { spec }, { contentType: merge })).status;
      expect(await change({ parts: [part("b", 99), part("a", 1)] })).toBe(200);
      expect(await change({ parts: [part("a", 2), part("b", 99)] })).toBe(200);
      expect(await change({ parts: [part("a", 2), part("b", 98)] })).toBe(422);
      expect(await change({ set: ["y", "x"] })).toBe(422);
      await here.ask("DELETE", `${definitions}/rats.${group}`);
    });
  });

  describe(`${name}: custom resources, defaults and rules`, () => {
    test("defaults come from the schema, rules answer in their own words, fields can be selected", async () => {
      const here = await desk();
      const group = `${here.namespace}.joinery.dev`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `voles.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "voles", singular: "vole", kind: "Vole" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: voleSchema },
              subresources: { status: {} },
              selectableFields: [{ jsonPath: ".spec.size" }],
            },
          ],
        },
      };
      expect((await here.ask("POST", definitions, definition)).status).toBe(201);
      const voles = here.path(`${group}/v1 voles`);
      const vole = (metadataName: string, spec: Value) => ({
        apiVersion: `${group}/v1`,
        kind: "Vole",
        metadata: { name: metadataName },
        spec,
        status: { seen: true },
      });
      const first = vole("v", { extra: "dropped", low: 1, high: 5 });
      await expect.poll(async () => (await here.ask("POST", voles, first)).status, { timeout: 10_000 }).toBe(201);
      const made = (await here.ask("GET", `${voles}/v`)).body as Value;
      expect(made.spec, "defaults are filled in, what the schema does not know is dropped").toEqual({
        low: 1,
        high: 5,
        size: "small",
        nested: { on: true },
      });
      expect(made.status, "status has a writer of its own").toBeUndefined();
      const refusal = async (spec: Value) => {
        const answer = await here.ask("PATCH", `${voles}/v`, { spec }, { contentType: merge });
        return [answer.status, (answer.body as { message: string }).message];
      };
      expect(await refusal({ low: 9 })).toEqual([422, `Vole.${group} "v" is invalid: spec: Invalid value: low must not be above high`]);
      expect(await refusal({ size: "huge" })).toEqual([
        422,
        `Vole.${group} "v" is invalid: [spec.size: Unsupported value: "huge": supported values: "small", "large", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`,
      ]);
      expect(await refusal({ fixed: "other" }), "a field that is not there yet may come").toEqual([200, undefined]);
      expect(await refusal({ fixed: "third" })).toEqual([
        422,
        `Vole.${group} "v" is invalid: spec.fixed: Invalid value: "third": fixed once set`,
      ]);
      expect(await refusal({ size: null }), "what is taken away comes back as its default").toEqual([200, undefined]);
      await here.ask("POST", voles, vole("w", { low: 1, high: 1, size: "large" }));
      const query = { fieldSelector: "spec.size=large" };
      expect(namesOf((await here.ask("GET", voles, undefined, { query })).body as List)).toEqual(["w"]);
      await here.ask("DELETE", `${definitions}/voles.${group}`);
    });
  });

  describe(`${name}: leases`, () => {
    test("keep microseconds, and of two who read the same version one may write", async () => {
      const here = await desk();
      const leases = here.path("coordination.k8s.io/v1 leases");
      const lease = (holderIdentity: string, renewTime: string, metadata: Value = {}) => ({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l", ...metadata },
        spec: { holderIdentity, renewTime, acquireTime: renewTime, leaseDurationSeconds: 15, leaseTransitions: 0 },
      });
      const made = (await here.ask("POST", leases, lease("a", "2026-01-01T00:00:00.123456Z"))).body as Meta & { spec: Value };
      expect(made.spec).toMatchObject({ renewTime: "2026-01-01T00:00:00.123456Z", holderIdentity: "a", leaseDurationSeconds: 15 });
      const { resourceVersion } = made.metadata;
      const first = await here.ask("PUT", `${leases}/l`, lease("b", "2026-01-01T00:00:16.000000Z", { resourceVersion }));
      const second = await here.ask("PUT", `${leases}/l`, lease("c", "2026-01-01T00:00:16.000001Z", { resourceVersion }));
      expect([first.status, second.status]).toEqual([200, 409]);
      expect((second.body as { message: string }).message).toBe(
        'Operation cannot be fulfilled on leases.coordination.k8s.io "l": the object has been modified; please apply your changes to the latest version and try again',
      );
      const now = (await here.ask("GET", `${leases}/l`)).body as { spec: Value };
      expect(now.spec.holderIdentity).toBe("b");
      const wrong = await here.ask("PUT", `${leases}/l`, { ...lease("d", "soon"), metadata: { name: "l" } });
      expect([wrong.status, (wrong.body as { message: string }).message]).toEqual([
        400,
        'Lease in version "v1" cannot be handled as a Lease: parsing time "soon" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "soon" as "2006"',
      ]);
      const negative = { spec: { leaseDurationSeconds: 0 } };
      const refused = await here.ask("PATCH", `${leases}/l`, negative, { contentType: merge });
      expect([refused.status, (refused.body as { message: string }).message]).toEqual([
        422,
        'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      ]);
    });
  });

  describe(`${name}: events`, () => {
    test("are the same in both versions", async () => {
      const here = await desk();
      const object = { kind: "Pod", namespace: here.namespace, name: "p", apiVersion: "v1" };
      await here.ask("POST", here.path("events"), {
        metadata: { name: "old" },
        involvedObject: object,
        reason: "R",
        message: "hello",
        type: "Normal",
        source: { component: "c" },
        lastTimestamp: "2026-01-02T00:00:00Z",
        count: 3,
      });
      const newer = {
        metadata: { name: "new" },
        regarding: object,
        eventTime: "2026-01-02T00:00:00.000000Z",
        reason: "R",
        note: "there",
        type: "Warning",
        action: "A",
        reportingController: "x/y",
        reportingInstance: "i",
      };
      const made = await here.ask("POST", here.path("events.k8s.io/v1 events"), newer);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      expect(made.body).toMatchObject({ ...newer, apiVersion: "events.k8s.io/v1" });
      expect((await here.ask("GET", here.path("events/new"))).body).toMatchObject({
        apiVersion: "v1",
        involvedObject: object,
        message: "there",
        reportingComponent: "x/y",
      });
      const seen = (await here.ask("GET", here.path("events.k8s.io/v1 events/old"))).body as Value;
      expect(seen).toMatchObject({
        apiVersion: "events.k8s.io/v1",
        regarding: object,
        note: "hello",
        deprecatedSource: { component: "c" },
        deprecatedLastTimestamp: "2026-01-02T00:00:00Z",
        deprecatedCount: 3,
      });
      expect(seen).not.toHaveProperty("involvedObject");
      const query = { fieldSelector: "regarding.name=p,type=Normal" };
      expect(namesOf((await here.ask("GET", here.path("events.k8s.io/v1 events"), undefined, { query })).body as List)).toEqual(["old"]);
      const change = (patch: Value) => here.ask("PATCH", here.path("events.k8s.io/v1 events/new"), patch, { contentType: merge });
      expect((await change({ note: "changed" })).body).toMatchObject({
        code: 422,
        message: 'Event "new" is invalid: message: Invalid value: "changed": field is immutable',
      });
      const series = { count: 2, lastObservedTime: "2026-01-02T00:00:01.000000Z" };
      expect((await change({ series })).body).toMatchObject({ note: "there", series });
      expect((await here.ask("GET", here.path("events/new"))).body).toMatchObject({ message: "there", series });
      expect((await here.ask("DELETE", here.path("events.k8s.io/v1 events/old"))).status).toBe(200);
      expect((await here.ask("GET", here.path("events/old"))).status).toBe(404);
    });
  });

  describe(`${name}: tables`, () => {
    test("pods, with columns for -o wide", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const table = (await here.ask("GET", here.path("pods"), undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }))
        .body as Table;
      expect(table.kind).toBe("Table");
      expect(table.columnDefinitions.map((column) => `${column.name}${column.priority > 0 ? "+" : ""}`)).toEqual([
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        "IP+",
        "Node+",
        "Nominated Node+",
        "Readiness Gates+",
      ]);
      expect(table.rows[0]?.cells).toEqual([
        "p",
        "0/1",
        "Pending",
        "0",
        expect.stringMatching(/^\d+s$/),
        "<none>",
        "<none>",
        "<none>",
        "<none>",
      ]);
      expect(table.rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "p" } });
    });

    test("a scale", async () => {
      const here = await desk();
      await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment"));
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const table = (await here.ask("GET", here.path("apps/v1 deployments/w/scale"), undefined, { accept })).body as Table;
      expect(table.columnDefinitions.map((column) => column.name)).toEqual(["Name", "Desired", "Available", "Age"]);
      expect(table.rows[0]?.cells).toEqual(["w", 0, 0, expect.stringMatching(/^\d+s$/)]);
    });
  });
}

const part = (name: string, size: number): Value => ({ name, size });

/** A list map whose sizes end at `maximum`, and a set that is as long as its tens. */
function ratSchema(maximum: number): Value {
  const size = { type: "integer", maximum };
  const parts = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: { name: { type: "string" }, size } },
  };
  const set = { type: "array", "x-kubernetes-list-type": "set", maxItems: maximum / 10, items: { type: "string" } };
  return { type: "object", properties: { spec: { type: "object", properties: { parts, set } } } };
}

const voleSchema: Value = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-validations": [{ rule: "self.low <= self.high", message: "low must not be above high" }],
      properties: {
        low: { type: "integer" },
        high: { type: "integer" },
        size: { type: "string", enum: ["small", "large"], default: "small" },
        nested: { type: "object", default: {}, properties: { on: { type: "boolean", default: true } } },
        fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed once set" }] },
      },
      required: ["low", "high"],
    },
    status: { type: "object", properties: { seen: { type: "boolean" } } },
  },
};

interface Meta {
  readonly metadata: { readonly generation?: number; readonly resourceVersion: string; readonly [key: string]: unknown };
}

interface List {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
  readonly metadata: { readonly continue?: string };
}

interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: unknown[]; readonly object: unknown }[];
}

function namesOf(list: List): string[] {
  return list.items.map(({ metadata }) => metadata.name).filter((item) => item !== "kube-root-ca.crt");
}
