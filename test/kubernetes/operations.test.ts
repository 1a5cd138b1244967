/**
 * What operators rely on, on a real API server: the Lease and its Event, another controller's Lease in another namespace, and what the role
 * must allow for it to be seen; a start before the API server is there. Rules O-67, O-73…O-83.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Events, formatMicroTime, type KubeObject, kind, Leases } from "@joinery/api";
import { createHttpTransport, createKubeClient, createOnce, isForbidden, type KubeClient } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControllerProcess, eventually as soon, startControllerProcess } from "../failover/controller-process.ts";
import { createRelay } from "../failover/relay.ts";
import { clock, connect, installCrds, workFolder } from "./cluster.ts";

const bundle = join(import.meta.dirname, "../../dist/joinery.mjs");
const name = "operations-test";
const started: ControllerProcess[] = [];
let client: KubeClient;

beforeAll(async () => {
  client = await connect();
  await installCrds(client);
});
afterAll(async () => {
  for (const controller of started) controller.signal("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
});

function start(kubeconfig = process.env.KUBECONFIG ?? ""): ControllerProcess {
  const controller = startControllerProcess(kubeconfig, [`--leader-election-name=${name}`], bundle);
  started.push(controller);
  return controller;
}

const holderIn = async (namespace: string) => (await client.find(Leases, { namespace, name }))?.spec?.holderIdentity ?? "";

/** Karpenter in another namespace. It never gives its Lease back (O-71). */
async function startKarpenter(): Promise<() => void> {
  const key = { namespace: "kube-system", name };
  const spec = () => ({ holderIdentity: "karpenter-1", leaseDurationSeconds: 15, renewTime: formatMicroTime(clock.wallMs()) });
  await createOnce(client, Leases, { metadata: key, spec: spec() });
  let isOver = false;
  const renew = () => {
    if (isOver) return;
    void client.patch(Leases, key, { type: "merge", body: { spec: spec() } }).catch(() => {});
    clock.after(2000, renew);
  };
  renew();
  return () => {
    isOver = true;
  };
}

const lines = ({ lines: all }: ControllerProcess, message: string) => all.filter((line) => line.message === message);
const BLOCKED = "another controller holds the lease in its namespace, so this one does not act";

test("a Lease of the name that another namespace's controller renews: not acting, ready, said; then leading, yielding, leading", async () => {
  const endFirst = await startKarpenter();
  const controller = start();
  expect(await controller.saying(BLOCKED)).toMatchObject({ level: "ERROR", namespace: "kube-system", holder: "karpenter-1", lease: name });
  expect(await controller.get("health-probe-port", "/readyz")).toEqual({ status: 200, text: "ok" });
  await clock.sleep(5000);
  expect(await holderIn("default")).toBe("");
  endFirst();
  await controller.saying("leading", 30_000);
  expect(await holderIn("default")).toMatch(/^karpenter-0_/);

  const endSecond = await startKarpenter();
  await soon("the Lease to be given back", async () => ((await holderIn("default")) === "" ? true : undefined));
  expect(lines(controller, BLOCKED)).toHaveLength(2);
  endSecond();
  await soon("leading again", async () => (lines(controller, "leading").length === 2 ? true : undefined));
  controller.signal("SIGTERM");
  expect(await controller.ended, controller.output()).toBe(0);
  expect(await holderIn("default")).toBe("");
});

test("O-75: an Event on the Lease tells who became leader", async () => {
  const controller = start();
  await controller.saying("leading");
  const event = await soon("the Event", async () =>
    (await client.list(Events, { namespace: "default" })).items.findLast(
      ({ reason, involvedObject }) => reason === "LeaderElection" && involvedObject.name === name,
    ),
  );
  expect(event).toMatchObject({ type: "Normal", involvedObject: { kind: "Lease" }, source: { component: "karpenter" } });
  expect(event.message).toMatch(/^karpenter-0_[0-9a-f-]+ became leader$/);
  controller.signal("SIGTERM");
  expect(await controller.ended).toBe(0);
});

test("O-67: started before the API server can be reached, it waits, and leads when it can", async () => {
  const kubeconfig = readFileSync(process.env.KUBECONFIG ?? "", "utf8");
  const port = /127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1] ?? "";
  const relay = createRelay();
  const path = join(workFolder(), "operations-kubeconfig");
  writeFileSync(path, kubeconfig.replaceAll(port, String(await relay.reserve(Number(port)))));
  const controller = start(path);
  await controller.saying("waiting for the API server");
  expect((await controller.get("health-probe-port", "/healthz")).status).toBe(200);
  expect((await controller.get("health-probe-port", "/readyz")).status).toBe(500);
  await relay.open();
  await controller.saying("leading");
  expect((await controller.get("health-probe-port", "/readyz")).status).toBe(200);
  controller.signal("SIGTERM");
  expect(await controller.ended, controller.output()).toBe(0);
  await relay.close();
});

const rbac = (name: string, resource: string) => kind("rbac.authorization.k8s.io", "v1", name, resource, false);

test("a ClusterRole that allows to list and watch Leases of this one name is enough to see the others", async () => {
  const user = "operations-reader";
  const rule = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list", "watch"], resourceNames: [name] };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }];
  await createOnce(client, rbac("ClusterRole", "clusterroles"), { metadata: { name: user }, rules: [rule] } as KubeObject);
  await createOnce(client, rbac("ClusterRoleBinding", "clusterrolebindings"), {
    metadata: { name: user },
    roleRef,
    subjects,
  } as KubeObject);
  const reader = impersonating(user);
  const one = await reader.list(Leases, { fieldSelector: `metadata.name=${name},metadata.namespace!=default` });
  expect(one.items.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual([`kube-system/${name}`]);
  await expect(reader.list(Leases)).rejects.toSatisfy(isForbidden);
});

function impersonating(user: string): KubeClient {
  const kubeconfig = readFileSync(process.env.KUBECONFIG ?? "", "utf8");
  const server = /https:\/\/[\d.]+:\d+/.exec(kubeconfig)?.[0] ?? "";
  const headers = { authorization: "Bearer admin-token", "impersonate-user": user };
  const transport = createHttpTransport({ server, clock, tls: { rejectUnauthorized: false }, credentials: async () => ({ headers }) });
  return createKubeClient(transport, { userAgent: "joinery-test" });
}
