/** What Joinery calls wrong, a real kube-apiserver refuses, and what that accepts Joinery never calls wrong: the same manifests, asked of the real one. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@joinery/api";
import { createRealClock, loadTransport, type Transport } from "@joinery/kube";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { CORE_CASES, NODE_CLASS_CASES, serverVerdict } from "../manifests/server-verdict.ts";
import { connect, installCrds } from "./cluster.ts";

interface Expected {
  readonly file: string;
  readonly refusedByServer: boolean;
}

const manifests = join(import.meta.dirname, "../manifests");
const expected = JSON.parse(readFileSync(join(manifests, "bad/expected.json"), "utf8")) as readonly Expected[];

/** `group/version/Kind` → plural and scope, as discovery says. */
const resources = new Map<string, { readonly name: string; readonly namespaced: boolean }>();
let transport: Transport;

beforeAll(async () => {
  const client = await connect();
  await installCrds(client);
  ({ transport } = await loadTransport({ clock: createRealClock(), env: process.env }));
  const groups = (await transport.send({ method: "GET", path: "/apis" })).body as { groups: { versions: { groupVersion: string }[] }[] };
  const versions = ["v1", ...groups.groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))];
  for (const version of versions) {
    const { body } = await transport.send({ method: "GET", path: version === "v1" ? "/api/v1" : `/apis/${version}` });
    for (const resource of (body as { resources?: { name: string; kind: string; namespaced: boolean }[] }).resources ?? []) {
      if (!resource.name.includes("/")) resources.set(`${version}/${resource.kind}`, resource);
    }
  }
});

describe("refused by the real server too", () => {
  test.each(expected.filter(({ refusedByServer }) => refusedByServer))("$file", async ({ file }) => {
    const answers = await ask(join(manifests, "bad", file));
    expect(
      answers.some(({ status }) => status >= 400),
      JSON.stringify(answers.map(({ status, message }) => `${status} ${message}`)),
    ).toBe(true);
  });
});

describe("only a fault of the file: the real server never sees it, or accepts each object by itself", () => {
  test.each(expected.filter(({ refusedByServer }) => !refusedByServer))("$file", async ({ file }) => {
    const answers = await ask(join(manifests, "bad", file)).catch(() => []);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  });
});

describe("accepted by the real server", () => {
  test.each(readdirSync(join(manifests, "good")))("%s", async (file) => {
    const answers = await ask(join(manifests, "good", file));
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  });
});

describe("cases of the API's rules: the same verdict as the schemas and the sandbox give, in words that say the same", () => {
  test.each([...CORE_CASES, ...NODE_CLASS_CASES])("$title", async (one) => {
    const { isTaken, message } = await serverVerdict(one, transport);
    const expected = one.refusal === undefined ? "" : expect.stringMatching(one.refusal);
    expect({ isTaken, message }).toEqual({ isTaken: one.refusal === undefined, message: expected });
  });
});

/** Creates every object of the file, dry and strictly. */
async function ask(path: string): Promise<{ status: number; message: string }[]> {
  const answers: { status: number; message: string }[] = [];
  for (const document of parseAllDocuments(readFileSync(path, "utf8"), { version: "1.1" })) {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object = document.toJS() as (KubeObject & { items?: KubeObject[] }) | null;
    for (const item of object?.items ?? (object === null ? [] : [object])) answers.push(await create(item));
  }
  return answers;
}

async function create(object: KubeObject): Promise<{ status: number; message: string }> {
  const resource = resources.get(`${object.apiVersion}/${object.kind}`);
  if (resource === undefined) return { status: 404, message: `no kind ${object.kind} in ${object.apiVersion}` };
  const base = object.apiVersion === "v1" ? "/api/v1" : `/apis/${object.apiVersion}`;
  const path = resource.namespaced
    ? `${base}/namespaces/${object.metadata?.namespace ?? "default"}/${resource.name}`
    : `${base}/${resource.name}`;
  const answer = await transport.send({ method: "POST", path, query: { dryRun: "All", fieldValidation: "Strict" }, body: object });
  const { message = "", reason } = answer.body as { message?: string; reason?: string };
  // What is there already, from another suite, has passed admission before it was refused.
  return { status: reason === "AlreadyExists" ? 201 : answer.status, message };
}
