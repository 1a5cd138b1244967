/** CustomResourceDefinitions at run time: served at once, with schema, rules, columns, scale and discovery. */
import { crdOf, OWNED_KINDS } from "@joinery/api";
import { createRandom, createVirtualClock, type Transport } from "@joinery/kube";
import { beforeEach, expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const foos = "/apis/example.io/v1/namespaces/default/foos";

const definition = {
  metadata: { name: "foos.example.io" },
  spec: {
    group: "example.io",
    scope: "Namespaced",
    names: { plural: "foos", kind: "Foo", shortNames: ["fo"], categories: ["all"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" },
        },
        additionalPrinterColumns: [
          { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
          { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: "Zone", type: "string", priority: 1, jsonPath: ".metadata.labels.topology\\.kubernetes\\.io/zone" },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { replicas: { type: "integer", minimum: 0, default: 2 }, mode: { type: "string", enum: ["a", "b"] } },
                "x-kubernetes-validations": [{ rule: "self.replicas < 10", message: "too many" }],
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
};

const aFoo = (spec: object, metadata: object = {}) => ({
  apiVersion: "example.io/v1",
  kind: "Foo",
  metadata: { name: "f", ...metadata },
  spec,
});

let transport: Transport;
beforeEach(async () => {
  transport = createApiServer({ clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) }).transport();
  const { body } = await transport.send({ method: "POST", path: definitions, body: definition });
  expect(body).toMatchObject({
    status: {
      conditions: [
        { type: "NamesAccepted", status: "True" },
        { type: "Established", status: "True" },
      ],
    },
  });
});

test("unknown fields go, defaults come", async () => {
  const { status, body } = await transport.send({ method: "POST", path: foos, body: aFoo({ mode: "a", unknown: 1 }) });
  expect(status).toBe(201);
  expect((body as { spec: unknown }).spec).toEqual({ mode: "a", replicas: 2 });
});

test.each([
  { why: "schema", spec: { mode: "c" }, status: 422, message: 'spec.mode: Unsupported value: "c": supported values: "a", "b"' },
  { why: "rule", spec: { replicas: 11 }, status: 422, message: "too many" },
  {
    why: "strict",
    spec: { unknown: 1 },
    query: { fieldValidation: "Strict" },
    status: 400,
    message: 'strict decoding error: unknown field "spec.unknown"',
  },
])("refused: $why", async ({ spec, query, status, message }) => {
  const answer = await transport.send({ method: "POST", path: foos, body: aFoo(spec), ...(query && { query }) });
  expect(answer.status).toBe(status);
  expect((answer.body as { message: string }).message).toContain(message);
});

test("status has its own writer, scale its own view, the table its columns", async () => {
  await transport.send({ method: "POST", path: foos, body: aFoo({ mode: "a" }, { labels: { "topology.kubernetes.io/zone": "z1" } }) });
  const status = { replicas: 1, selector: "a=b", conditions: [{ type: "Ready", status: "True" }] };
  await transport.send({
    method: "PATCH",
    path: `${foos}/f/status`,
    contentType: "application/merge-patch+json",
    body: { spec: { mode: "b" }, status },
  });
  const scaled = await transport.send({
    method: "PATCH",
    path: `${foos}/f/scale`,
    contentType: "application/merge-patch+json",
    body: { spec: { replicas: 5 } },
  });
  expect(scaled.body).toMatchObject({ kind: "Scale", spec: { replicas: 5 }, status: { replicas: 1, selector: "a=b" } });
  expect((await transport.send({ method: "GET", path: `${foos}/f` })).body).toMatchObject({
    metadata: { generation: 2 },
    spec: { mode: "a", replicas: 5 },
    status,
  });
  const table = (await transport.send({ method: "GET", path: foos, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })).body as {
    rows: { cells: unknown[] }[];
  };
  expect(table.rows[0]?.cells).toEqual(["f", 5, "True", "z1"]);
});

test("discovery names it, plainly and aggregated, until the definition goes and takes the objects along", async () => {
  await transport.send({ method: "POST", path: foos, body: aFoo({}) });
  const plain = await transport.send({ method: "GET", path: "/apis/example.io/v1" });
  expect(plain.body).toMatchObject({
    resources: [
      { name: "foos", kind: "Foo", shortNames: ["fo"], categories: ["all"] },
      { name: "foos/status" },
      { name: "foos/scale", kind: "Scale" },
    ],
  });
  const aggregated = await transport.send({
    method: "GET",
    path: "/apis",
    accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  });
  const { items } = aggregated.body as { items: { metadata: { name: string } }[] };
  expect(items.map(({ metadata }) => metadata.name)).toContain("example.io");
  await transport.send({ method: "DELETE", path: `${definitions}/foos.example.io` });
  expect((await transport.send({ method: "GET", path: foos })).status).toBe(404);
  await transport.send({ method: "POST", path: definitions, body: definition });
  expect((await transport.send({ method: "GET", path: foos })).body).toMatchObject({ items: [] });
});

test("a definition waits for objects that finalizers hold", async () => {
  await transport.send({ method: "POST", path: foos, body: aFoo({}, { finalizers: ["joinery.dev/hold"] }) });
  await transport.send({ method: "DELETE", path: `${definitions}/foos.example.io` });
  expect((await transport.send({ method: "GET", path: `${foos}/f` })).body).toMatchObject({
    metadata: { deletionTimestamp: expect.any(String) },
  });
  await transport.send({
    method: "PATCH",
    path: `${foos}/f`,
    contentType: "application/merge-patch+json",
    body: { metadata: { finalizers: null } },
  });
  expect((await transport.send({ method: "GET", path: `${definitions}/foos.example.io` })).status).toBe(404);
});

test("our own definitions are served", async () => {
  for (const owned of OWNED_KINDS) {
    const { status, body } = await transport.send({ method: "POST", path: definitions, body: crdOf(owned) });
    expect(status, JSON.stringify(body)).toBe(201);
  }
  expect((await transport.send({ method: "GET", path: "/apis/karpenter.sh/v1/nodepools" })).body).toMatchObject({
    kind: "NodePoolList",
    items: [],
  });
});

test.each([
  {
    what: "a rule that is no CEL",
    field: "spec.versions[0].schema.openAPIV3Schema",
    schema: { type: "object", "x-kubernetes-validations": [{ rule: "1 +" }] },
  },
  { what: "a schema without type", field: "spec.versions[0].schema.openAPIV3Schema", schema: { properties: { spec: { type: "object" } } } },
  { what: "a name that is not its own", field: "metadata.name", name: "bars.example.io" },
])("a definition is refused for $what", async ({ field, schema, name = "foos.example.io" }) => {
  const [version] = definition.spec.versions;
  const versions = [{ ...version, schema: schema === undefined ? version?.schema : { openAPIV3Schema: schema } }];
  const server = createApiServer({ clock: createVirtualClock({ startMs: 0 }), random: createRandom(1) });
  const body = { metadata: { name }, spec: { ...definition.spec, versions } };
  const answer = await server.transport().send({ method: "POST", path: definitions, body });
  expect(answer.status).toBe(422);
  const { details } = answer.body as { readonly details: { readonly causes: readonly { readonly field: string }[] } };
  expect(details.causes.some((cause) => cause.field.startsWith(field))).toBe(true);
});
