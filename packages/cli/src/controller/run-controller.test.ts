/** The start of the controller as people meet it: what is wrong with the settings on this machine. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { version } from "../build-info.ts";
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
  let out = "";
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
    out: terminal((text) => {
      out += text;
    }),
    err: terminal((text) => {
      err += text;
    }),
    readStdin: async () => "",
  });
  const lines = (existsSync(log) ? readFileSync(log, "utf8") : "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status, err, out, lines };
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

test("O-7, O-61: settings that are wrong end it before there is a log, in words on stderr", async () => {
  const { status, err, lines } = await start(["--log-level=warn", "--preference-policy=respect"]);
  expect(err).toMatch(/^error: 2 settings are wrong\nlog-level \(LOG_LEVEL\): "warn".*\npreference-policy: "respect"/);
  expect(status).toBe(2);
  expect(lines).toEqual([]);
});

test("O-6: a flag that does not exist ends it", async () => {
  const { status, err, lines } = await start(["--metrics-prot=1"]);
  expect(err).toMatch(/^error: unknown option '--metrics-prot=1'/);
  expect(status).toBe(2);
  expect(lines).toEqual([]);
});

test.each(["-h", "--help"])("O-6: %s shows the usage and is no error", async (flag) => {
  const { status, out, lines } = await start([flag]);
  expect(out).toMatch(/^Usage: joinery controller [\s\S]*--metrics-port <int> .*METRICS_PORT, default 8080/m);
  expect(status).toBe(0);
  expect(lines).toEqual([]);
});

test("O-62: no cluster anywhere ends it", async () => {
  const { status, err } = await start(["--kubeconfig="]);
  expect(err).toMatch(/^error: Cannot find a cluster: KUBECONFIG is not set, this is no pod, and there is no ~\/.kube\/config/);
  expect(status).toBe(2);
});

test("O-61, O-62: the log comes first, and says which version this is before anything is asked", async () => {
  const { port } = taken.address() as AddressInfo;
  const { lines } = await start([`--health-probe-port=${port}`, "--log-level=debug"]);
  const told = lines.map(({ level, message }) => `${level} ${message}`).filter((line) => !line.includes("revision of this build"));
  expect(told.slice(0, 2)).toEqual(["DEBUG discovered karpenter version", "INFO starting"]);
  expect(lines.find(({ message }) => message === "discovered karpenter version")).toMatchObject({ version });
});

test("O-19: outside a cluster nobody says in which namespace the Lease is", async () => {
  const { status, err } = await start(["--disable-leader-election=false", "--health-probe-port=0", "--metrics-port=0"]);
  expect(err).toMatch(/^error: leader-election-namespace: not in a cluster, so it must be given/);
  expect(status).toBe(2);
});

const spread = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" };

test.each([
  { config: JSON.stringify({ podTopologySpread: { defaultConstraints: [spread] } }), told: [[spread]] },
  { config: "", told: [] },
])("O-60: the constraints of $config are in the log once, those of nothing are not", async ({ config, told }) => {
  const { port } = taken.address() as AddressInfo;
  const { lines } = await start([`--health-probe-port=${port}`, `--scheduler-config=${config}`]);
  const found = lines.filter(({ defaultConstraints }) => defaultConstraints !== undefined);
  expect(found.map(({ defaultConstraints }) => defaultConstraints)).toEqual(told);
  expect(found.map(({ level }) => level)).toEqual(told.map(() => "INFO"));
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
