/** A build of which nobody recorded the revision. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../main.ts";

vi.mock("../build-info.ts", async (original) => ({ ...(await original<typeof import("../build-info.ts")>()), revision: () => undefined }));

const folder = mkdtempSync(join(tmpdir(), "joinery-revision-"));
const taken = createServer();
beforeAll(() => new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true });
});

test("O-86: a revision that nobody knows is told once at INFO, and no line has a commit", async () => {
  const [log, kubeconfig] = [join(folder, "log"), join(folder, "kubeconfig")];
  const cluster = { name: "c", cluster: { server: "http://127.0.0.1:9" } };
  const context = { name: "c", context: { cluster: "c", user: "c" } };
  writeFileSync(
    kubeconfig,
    JSON.stringify({ clusters: [cluster], contexts: [context], users: [{ name: "c", user: {} }], "current-context": "c" }),
  );
  const terminal = { write: () => undefined, isInteractive: false, columns: 80, style: (_: unknown, text: string) => text };
  // The port is taken, so the start ends as soon as it has said who it is.
  const { port } = taken.address() as AddressInfo;
  const flags = ["--cloud-provider=kwok", `--kubeconfig=${kubeconfig}`, "--disable-leader-election", "--bind-address=127.0.0.1"];
  await runCommand(["controller", ...flags, `--log-output-paths=${log}`, `--health-probe-port=${port}`], {
    env: {},
    out: terminal,
    err: terminal,
    readStdin: async () => "",
  });
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ message }) => message === "unable to read the revision of this build").map(({ level }) => level)).toEqual([
    "INFO",
  ]);
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line).not.toHaveProperty("commit");
});
