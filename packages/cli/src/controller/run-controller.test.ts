/** The start of the controller as people meet it: what is wrong with the settings on this machine. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../main.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-controller-"));
const taken = createServer();
const kubeconfig = join(folder, "kubeconfig");
beforeAll(async () => {
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  // Nobody answers there, and nobody is asked before the ports are open.
  const cluster = { name: "c", cluster: { server: "http://127.0.0.1:9" } };
  const context = { name: "c", context: { cluster: "c", user: "c" } };
  writeFileSync(
    kubeconfig,
    JSON.stringify({ clusters: [cluster], contexts: [context], users: [{ name: "c", user: {} }], "current-context": "c" }),
  );
});
afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true });
});

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const log = join(folder, "log");
  rmSync(log, { force: true });
  let err = "";
  const terminal = (write: (text: string) => void) => ({
    write,
    isInteractive: false,
    columns: 80,
    style: (_: unknown, text: string) => text,
  });
  const all = [
    "controller",
    "--cloud-provider=kwok",
    `--kubeconfig=${kubeconfig}`,
    "--disable-leader-election",
    "--bind-address=127.0.0.1",
  ];
  const status = await runCommand([...all, `--log-output-paths=${log}`, ...args], {
    env,
    out: terminal(() => undefined),
    err: terminal((text) => {
      err += text;
    }),
    readStdin: async () => "",
  });
  const lines = (existsSync(log) ? readFileSync(log, "utf8") : "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status, err, lines };
}

test.each([
  { flag: "health-probe-port", other: "--metrics-port=0" },
  { flag: "metrics-port", other: "--health-probe-port=0" },
])("a port that is taken is an error of $flag", async ({ flag, other }) => {
  const { port } = taken.address() as AddressInfo;
  const { status, err } = await start([`--${flag}=${port}`, other]);
  expect(err).toBe(`error: ${flag}: port ${port} is in use; give --${flag} another port, or 0 for a free one\n`);
  expect(status).toBe(2);
});

test("a gate that is on and does nothing in this version is in the log", async () => {
  const { port } = taken.address() as AddressInfo;
  const { lines } = await start([`--health-probe-port=${port}`, "--feature-gates=NodeRepair=true,StaticCapacity=true"]);
  expect(lines.filter(({ message }) => message === "feature gate has no effect in this version").map(({ gate }) => gate)).toEqual([
    "NodeRepair",
  ]);
});

test("O-23: an output of the log that cannot be opened is an error of its setting", async () => {
  const { status, err } = await start(["--log-output-paths=https://logs.example.com"]);
  expect(err).toBe(
    'error: log-output-paths (LOG_OUTPUT_PATHS): cannot open "https://logs.example.com": it is no file; use stdout, stderr or a file\n',
  );
  expect(status).toBe(2);
});

test("O-3: a variable that cannot be read is in the log, and its default counts", async () => {
  const { port } = taken.address() as AddressInfo;
  const { lines } = await start([`--health-probe-port=${port}`], { KUBE_CLIENT_QPS: "x" });
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: "INFO",
      variable: "KUBE_CLIENT_QPS",
      value: "x",
      used: 200,
      message: "environment variable cannot be read, default used",
    }),
  );
});
