import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../testing/certificate.ts";
import { type LoadTransportOptions, loadTransport } from "./load-transport.ts";
import { createTokenFileCredentials } from "./service-account.ts";

let directory = "";
let port = 0;
let tlsPort = 0;
const echo = createServer((request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ authorization: request.headers.authorization }));
});
const tlsEcho = createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ authorization: request.headers.authorization }));
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "joinery-kube-"));
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => tlsEcho.listen(0, "127.0.0.1", resolve));
  port = (echo.address() as AddressInfo).port;
  tlsPort = (tlsEcho.address() as AddressInfo).port;
});

afterAll(async () => {
  for (const server of [echo, tlsEcho]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(directory, { recursive: true });
});

function kubeconfig({ context = "c", user = "token: secret", server = `http://127.0.0.1:${port}`, namespace = "team" } = {}): string {
  return `apiVersion: v1
kind: Config
current-context: ${context}
clusters: [{name: cluster, cluster: {server: "${server}"}}]
users: [{name: user, user: {${user}}}]
contexts:
- {name: c, context: {cluster: cluster, user: user, namespace: ${namespace}}}
- {name: other, context: {cluster: cluster, user: user}}
- {name: dangling, context: {cluster: nowhere, user: user}}
`;
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function load(options: Partial<LoadTransportOptions>) {
  const loaded = await loadTransport({ env: {}, clock: createVirtualClock({ startMs: 0 }), ...options });
  try {
    const { body } = await loaded.transport.send({ method: "GET", path: "/" });
    return { ...loaded, authorization: (body as { authorization?: string }).authorization };
  } finally {
    await loaded.transport.close();
  }
}

test.each([
  { login: "a token", user: "token: secret", wish: "Bearer secret" },
  { login: "a password", user: "username: u, password: p", wish: `Basic ${Buffer.from("u:p").toString("base64")}` },
  {
    login: "an exec plugin",
    user: `exec: {apiVersion: client.authentication.k8s.io/v1, command: echo, args: ['{"status":{"token":"made"}}']}`,
    wish: "Bearer made",
  },
])("a kubeconfig with $login", async ({ login, user, wish }) => {
  const path = await file(`${login}.yaml`, kubeconfig({ user }));
  expect(await load({ kubeconfigPath: path })).toMatchObject({
    source: "kubeconfig",
    authorization: wish,
    namespace: "team",
    context: "c",
  });
});

test("contexts: another one by name; wrong ones say what there is", async () => {
  const path = await file("contexts.yaml", kubeconfig());
  expect(await load({ kubeconfigPath: path, context: "other" })).toMatchObject({ context: "other", namespace: undefined });
  await expect(load({ kubeconfigPath: path, context: "typo" })).rejects.toThrow(
    'context "typo" is not in it, wanted one of c, other, dangling',
  );
  await expect(load({ kubeconfigPath: path, context: "dangling" })).rejects.toThrow('cluster "nowhere" of context "dangling" is not in it');
  const empty = await file("empty.yaml", kubeconfig({ context: '""' }));
  await expect(load({ kubeconfigPath: empty })).rejects.toThrow("no current context");
  await expect(load({ kubeconfigPath: join(directory, "none.yaml") })).rejects.toMatchObject({ fault: "credentials" });
});

test("KUBECONFIG: the first file to name something wins, and missing files are passed over", async () => {
  const first = await file("first.yaml", kubeconfig({ context: '""', user: "token: first" }));
  const second = await file("second.yaml", kubeconfig({ context: "other", user: "token: second" }));
  const KUBECONFIG = [join(directory, "none.yaml"), first, second].join(delimiter);
  expect(await load({ env: { KUBECONFIG } })).toMatchObject({ context: "other", authorization: "Bearer first" });
  await expect(load({ env: { KUBECONFIG: join(directory, "none.yaml") } })).rejects.toThrow("no file of KUBECONFIG exists");
});

test("O-62: the order: flag, KUBECONFIG, the pod's own cluster, ~/.kube/config", async () => {
  const home = join(directory, "home");
  await file("home/.kube/config", kubeconfig({ user: "token: home" }));
  const named = await file("named.yaml", kubeconfig({ user: "token: named" }));
  const listed = await file("listed.yaml", kubeconfig({ user: "token: listed" }));
  await file("account/ca.crt", TEST_CERTIFICATE);
  await file("account/token", "mounted\n");
  await file("account/namespace", "karpenter\n");
  const env = { HOME: home, KUBECONFIG: listed, KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(tlsPort) };
  const serviceAccountDirectory = join(directory, "account");
  const authorizations = [
    (await load({ env, serviceAccountDirectory, kubeconfigPath: named })).authorization,
    (await load({ env, serviceAccountDirectory })).authorization,
    (await load({ env: { ...env, KUBECONFIG: undefined }, serviceAccountDirectory })).authorization,
    (await load({ env: { HOME: home } })).authorization,
  ];
  expect(authorizations).toEqual(["Bearer named", "Bearer listed", "Bearer mounted", "Bearer home"]);
  expect(await load({ env: { ...env, KUBECONFIG: undefined }, serviceAccountDirectory })).toMatchObject({
    source: "in-cluster",
    namespace: "karpenter",
  });
  // A pod's own cluster has no contexts.
  expect((await load({ env: { ...env, KUBECONFIG: undefined }, context: "other", serviceAccountDirectory })).authorization).toBe(
    "Bearer home",
  );
  await expect(load({ env: {} })).rejects.toThrow("give --kubeconfig FILE or set KUBECONFIG");
  const noAccount = { env: { ...env, KUBECONFIG: undefined }, serviceAccountDirectory: join(directory, "nowhere") };
  await expect(load(noAccount)).rejects.toThrow("wanted a mounted token");
});

test("a mounted token is read again after a minute, and at once when it was refused", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  let reads = 0;
  const credentials = createTokenFileCredentials(async () => `t${++reads}\n`, clock);
  const seen = [await credentials(false), await credentials(false), await credentials(true)];
  await clock.advance(60_000);
  seen.push(await credentials(false));
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t3"]);
});
