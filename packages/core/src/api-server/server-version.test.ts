import { expect, test } from "vitest";
import { recordingLog } from "../testing/recording-log.ts";
import { createWorld } from "../testing/world.ts";
import { isSupported, versionIn } from "./server-version.ts";

test.each([
  { body: { major: "1", minor: "36" }, version: "1.36" },
  { body: { major: "1", minor: "36+" }, version: "1.36" },
  { body: { gitVersion: "v1.36.2" }, version: undefined },
  { body: undefined, version: undefined },
])("$body is version $version", ({ body, version }) => {
  expect(versionIn(body)).toBe(version);
});

test.each([
  ["1.25", false],
  ["1.26", true],
  ["1.37", true],
  ["1.38", false],
  ["2.30", false],
])("O-70, X-1: Kubernetes %s is supported: %s", (version, isWanted) => {
  expect(isSupported(version)).toBe(isWanted);
});

test("O-70: the version is told when it changes; one that is not supported is an error, once, and stops nothing", async () => {
  const HOUR_MS = 3_600_000;
  const world = createWorld();
  let minor = "37";
  world.api.faults.before = ({ path }) => (path === "/version" ? { status: 200, body: { major: "1", minor } } : undefined);
  const { log, lines } = recordingLog();
  const { controller } = world.start({ log });
  const told = () => lines.filter(({ version }) => version !== undefined).map(({ level, version }) => `${level} ${version}`);
  await world.clock.advance(3 * HOUR_MS);
  expect(told()).toEqual(["debug 1.37"]);
  minor = "38";
  await world.clock.advance(3 * HOUR_MS);
  expect(told()).toEqual(["debug 1.37", "debug 1.38", "error 1.38"]);
  expect(lines.find(({ level }) => level === "error")).toMatchObject({ error: "Kubernetes 1.38 is not supported, want 1.26 to 1.37" });
  expect(controller.state).toBe("leading");
  expect(controller.isReady).toBe(true);
});
