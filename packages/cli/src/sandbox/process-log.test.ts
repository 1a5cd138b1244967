import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVirtualClock } from "@joinery/kube";
import { afterAll, expect, test } from "vitest";
import { createProcessLog } from "./process-log.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-process-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("lines are in the file, with their times in memory, and with whoever listens", async () => {
  const clock = createVirtualClock({ startMs: 1000 });
  const path = join(folder, "a.log");
  const log = createProcessLog(path, clock);
  log.write("one");
  await clock.advance(500);
  const heard: string[] = [];
  const unlisten = log.onLine(({ text }) => heard.push(text));
  log.write("two");
  unlisten();
  log.write("three");
  log.end();
  log.write("nobody is left to write this");
  await log.ended;
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  expect(log.lines()).toEqual([
    { atMs: 1000, text: "one" },
    { atMs: 1500, text: "two" },
    { atMs: 1500, text: "three" },
  ]);
  expect(heard).toEqual(["two"]);
});
