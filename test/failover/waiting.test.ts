/**
 * A real controller process whose API server is away: it stays alive and says what it waits for, begins when it is there, and hands its
 * Lease over when it is stopped. Rules O-67, O-69, O-83, O-92, O-93, O-96.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CustomResourceDefinitions, crdOf, Leases, OWNED_KINDS } from "@joinery/api";
import { createRandom } from "@joinery/kube";
import { createWorld } from "@joinery/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControllerProcess, clock, eventually, startControllerProcess } from "./controller-process.ts";
import { createRelay } from "./relay.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-waiting-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("DNS does not know the API server: alive, not ready, one line says so; SIGTERM ends it cleanly", async () => {
  const kubeconfig = join(folder, "nowhere");
  writeFileSync(kubeconfig, kubeconfigOf("https://no-such-host.invalid:6443"));
  const controller = startControllerProcess(kubeconfig);
  try {
    expect(await controller.saying("waiting for the API server")).toMatchObject({
      level: "ERROR",
      error: expect.stringMatching(/no-such-host\.invalid:6443 cannot be reached: getaddrinfo E/),
    });
    expect(await controller.get("health-probe-port", "/healthz")).toEqual({ status: 200, text: "ok" });
    const { status, text } = await controller.get("health-probe-port", "/readyz");
    expect(status).toBe(500);
    expect(text).toMatch(/\[-\]manager failed: waiting for the API server: .*no-such-host\.invalid/);
    expect(text).toMatch(/\[-\]crd failed: cannot ask for karpenter\.sh\/v1: /);
    expect((await controller.get("metrics-port", "/metrics")).text).toMatch(/^client_go_request_total{code="<error>",method="GET"} \d+$/m);
    expect((await controller.get("metrics-port", "/debug/pprof/heap")).status).toBe(404);
  } finally {
    controller.signal("SIGTERM");
  }
  expect(await controller.ended, controller.output()).toBe(0);
  expect(controller.lines.at(-1)).toMatchObject({ message: "stopped" });
});

describe("an API server that comes, goes and comes", () => {
  const world = createWorld({ clock, random: createRandom(1) });
  const user = world.client("test");
  const relay = createRelay();
  const kubeconfig = join(folder, "away");
  let controller: ControllerProcess;
  let close = async () => {};

  beforeAll(async () => {
    await world.ready;
    const served = await world.apiServer.serve({ port: 0 });
    close = served.close;
    const port = await relay.reserve(served.port);
    writeFileSync(kubeconfig, served.kubeconfig().replaceAll(String(served.port), String(port)));
    controller = startControllerProcess(kubeconfig, ["--enable-profiling"]);
  });
  afterAll(async () => {
    controller.signal("SIGKILL");
    await controller.ended;
    await relay.close();
    await close();
    await world.stop();
  });

  const readiness = () => controller.get("health-probe-port", "/readyz");

  test("it is waited for, then the definitions, then the replica leads", async () => {
    await controller.saying("waiting for the API server");
    expect((await readiness()).status).toBe(500);
    await relay.open();
    await controller.saying("the API server answers again");
    const missing = await eventually("the missing definitions to be named", async () => {
      const { text } = await readiness();
      return /NodePool \(nodepools.karpenter.sh v1 is not served/.test(text) ? text : undefined;
    });
    expect(missing).toMatch(/\[-\]crd failed: /);
    for (const owned of OWNED_KINDS) await user.create(CustomResourceDefinitions, crdOf(owned) as never);
    await controller.saying("leading");
    expect(await readiness()).toEqual({ status: 200, text: "ok" });
    expect((await controller.get("metrics-port", "/metrics")).text).toMatch(
      /^leader_election_master_status{name="karpenter-leader-election"} 1$/m,
    );
    expect(JSON.parse((await controller.get("metrics-port", "/debug/pprof/heap")).text)).toHaveProperty("head");
  });

  test("it goes and comes: the replica lives through it", async () => {
    const waits = () => controller.lines.filter(({ message }) => message === "waiting for the API server").length;
    const before = waits();
    await relay.close();
    await eventually("the loss to be told", async () => (waits() > before ? true : undefined));
    expect((await controller.get("health-probe-port", "/healthz")).status).toBe(200);
    await relay.open();
    const answered = () => controller.lines.filter(({ message }) => message === "the API server answers again").length;
    await eventually("the return to be told", async () => (answered() === 2 ? true : undefined));
  });

  test("O-83: SIGTERM: it hands the Lease over and ends with 0", async () => {
    const lease = () => user.get(Leases, { namespace: "default", name: "karpenter-leader-election" });
    expect((await lease()).spec?.holderIdentity).toMatch(/^karpenter-0_/);
    controller.signal("SIGTERM");
    expect(await controller.ended, controller.output()).toBe(0);
    expect((await lease()).spec?.holderIdentity).toBe("");
  });
});

function kubeconfigOf(server: string): string {
  const cluster = { name: "c", cluster: { server } };
  const context = { name: "c", context: { cluster: "c", user: "c" } };
  return JSON.stringify({ clusters: [cluster], contexts: [context], users: [{ name: "c", user: {} }], "current-context": "c" });
}
