import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createVirtualClock } from "@joinery/kube";
import { afterAll, expect, test } from "vitest";
import { createControllerLog } from "./controller-log.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

function linesOf(level: string, write: (log: ReturnType<typeof createControllerLog>) => void): Record<string, unknown>[] {
  const file = join(folder, `${count++}.log`);
  const clock = createVirtualClock({ startMs: Date.UTC(2024, 7, 5, 19, 17, 16, 661) });
  const log = createControllerLog({ clock, level, outputs: [file], commit: "abc1234" });
  write(log);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("O-84: one JSON object per line with Karpenter's keys", () => {
  expect(linesOf("info", (log) => log.info({ NodeClaim: { name: "a" } }, "created nodeclaim"))).toEqual([
    {
      level: "INFO",
      time: "2024-08-05T19:17:16.661Z",
      logger: "controller",
      commit: "abc1234",
      NodeClaim: { name: "a" },
      message: "created nodeclaim",
    },
  ]);
});

test.each([
  { level: "error", wanted: ["ERROR"] },
  { level: "info", wanted: ["INFO", "INFO", "ERROR"] },
  { level: "", wanted: ["INFO", "INFO", "ERROR"] },
  { level: "debug", wanted: ["DEBUG", "INFO", "INFO", "ERROR"] },
])("O-22, O-90: level $level", ({ level, wanted }) => {
  const lines = linesOf(level, (log) => {
    log.debug({}, "d");
    log.info({}, "i");
    log.warn({}, "w");
    log.error({}, "e");
  });
  expect(lines.map((line) => line.level)).toEqual(wanted);
});

test("O-85: the caller is told at level debug only", () => {
  expect(linesOf("debug", (log) => log.info({}, "a"))[0]?.caller).toMatch(/^controller-log\.test\.ts:\d+$/);
  expect(linesOf("info", (log) => log.info({}, "a"))[0]).not.toHaveProperty("caller");
});

test("O-88: lines of a controller carry what its reconcile is about, whatever runs beside it; others do not", async () => {
  const file = join(folder, "within.log");
  const root = createControllerLog({ clock: createVirtualClock({ startMs: 0 }), level: "info", outputs: [file], commit: undefined });
  const log = root.child({ controller: "nodeclaim.lifecycle" });
  const reconcile = (name: string) =>
    log.within?.({ name, reconcileID: `id-${name}` }, async () => {
      await Promise.resolve();
      log.child({ "provider-id": "i-1" }).info({}, "launched nodeclaim");
      root.error({}, "waiting for the API server");
    });
  await Promise.all([reconcile("a"), reconcile("b")]);
  log.info({}, "leading");
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const told = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ message, name, reconcileID }) => [message, name, reconcileID]);
  expect(told).toEqual([
    ["launched nodeclaim", "a", "id-a"],
    ["waiting for the API server", undefined, undefined],
    ["launched nodeclaim", "b", "id-b"],
    ["waiting for the API server", undefined, undefined],
    ["leading", undefined, undefined],
  ]);
});

test("O-87: of 350 equal lines in a second, 102 are written", () => {
  const lines = linesOf("info", (log) => {
    for (let time = 0; time < 350; time++) log.info({ time }, "same");
  });
  expect(lines).toHaveLength(102);
});

test("O-23: an output may be a file URL", () => {
  const file = join(folder, "by-url.log");
  const log = createControllerLog({
    clock: createVirtualClock({ startMs: 0 }),
    level: "info",
    outputs: [pathToFileURL(file).href],
    commit: undefined,
  });
  log.info({}, "here");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ message: "here" });
});

test.each([
  { output: "", fault: /^cannot open "": it is no file; use stdout, stderr or a file$/ },
  { output: "https://logs.example.com", fault: /^cannot open "https:\/\/logs.example.com": it is no file/ },
  { output: folder, fault: /^cannot open ".*": EISDIR/ },
])("O-23: output $output is refused", ({ output, fault }) => {
  const options = { clock: createVirtualClock({ startMs: 0 }), level: "info", commit: undefined };
  expect(() => createControllerLog({ ...options, outputs: [output] })).toThrow(fault);
});

test("O-24: that an output cannot be written is told in the other place, once a minute, and ends nothing", async () => {
  const clock = createVirtualClock({ startMs: Date.UTC(2024, 7, 5) });
  const other = join(folder, "errors.log");
  // Linux: a disk that is always full.
  const log = createControllerLog({ clock, level: "info", outputs: ["/dev/full"], errorOutputs: [other], commit: undefined });
  for (let second = 0; second < 90; second++) {
    log.info({ second }, "lost");
    await clock.advance(1000);
  }
  const lines = readFileSync(other, "utf8").trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^2024-08-05T00:00:00.000Z write error: \/dev\/full: ENOSPC/);
});

test("O-86: without a known revision a line has no commit", () => {
  const file = join(folder, "no-commit.log");
  createControllerLog({ clock: createVirtualClock({ startMs: 0 }), level: "info", outputs: [file], commit: undefined }).info({}, "here");
  expect(JSON.parse(readFileSync(file, "utf8"))).not.toHaveProperty("commit");
});
