/** The `log` subresource of pods that are real processes: what kubectl asks for with its flags, and a log that is followed. */

import { Nodes, Pods } from "@joinery/api";
import { afterEach, expect, test } from "vitest";
import type { PodRun } from "../../kubelet/pod-runtime.ts";
import { aFakeNode, aPod } from "../../world/builders.ts";
import { aWorld, type TestWorld } from "../../world/test-world.ts";
import type { ContainerLog, LogLine } from "./container-log.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const made: TestWorld[] = [];
afterEach(async () => {
  for (const { world } of made.splice(0)) await world.stop();
});

interface FakeRun extends PodRun {
  write(text: string): void;
  exit(exitCode: number): void;
}

/** A pod whose runs write what the test says, at the world's time. */
async function aProcessPod() {
  const runs: FakeRun[] = [];
  let now = () => START_MS;
  const test = await aWorld({
    kubelets: {
      podRuntime: () => ({
        start() {
          const lines: LogLine[] = [];
          const listeners = new Set<(line: LogLine) => void>();
          const { promise: exited, resolve } = Promise.withResolvers<{ exitCode: number }>();
          const log: ContainerLog = {
            lines: () => lines,
            onLine(listener) {
              listeners.add(listener);
              return () => void listeners.delete(listener);
            },
            ended: exited,
          };
          const run: FakeRun = {
            ready: Promise.resolve(),
            exited,
            log,
            stop: () => resolve({ exitCode: 0 }),
            write(text) {
              const line = { atMs: now(), text };
              lines.push(line);
              for (const listener of [...listeners]) listener(line);
            },
            exit: (exitCode) => resolve({ exitCode }),
          };
          runs.push(run);
          return run;
        },
      }),
    },
  });
  made.push(test);
  now = () => test.clock.wallMs();
  await test.user.create(Nodes, aFakeNode({ name: "n" }));
  await test.user.create(Pods, aPod({ name: "p" }));
  await test.clock.runUntil(() => test.podNamed("p")?.status?.phase === "Running", 60_000);
  const transport = test.world.transport("kubectl");
  const path = "/api/v1/namespaces/default/pods/p";
  const ask = (query: Record<string, string> = {}) => transport.send({ method: "GET", path: `${path}/log`, query });
  return { ...test, runs, transport, path, ask };
}

test("the log is what the process wrote, cut as kubectl's flags say", async () => {
  const { runs, ask, clock } = await aProcessPod();
  runs[0]?.write("one");
  await clock.advance(10_000);
  const secondAt = new Date(clock.wallMs()).toISOString();
  runs[0]?.write("zwei ✓");
  runs[0]?.write("three");
  const cases: [Record<string, string>, string][] = [
    [{}, "one\nzwei ✓\nthree\n"],
    [{ container: "main" }, "one\nzwei ✓\nthree\n"],
    [{ tailLines: "1" }, "three\n"],
    [{ tailLines: "0" }, ""],
    [{ sinceTime: secondAt }, "zwei ✓\nthree\n"],
    [{ sinceSeconds: "5" }, "zwei ✓\nthree\n"],
    [{ sinceSeconds: "5", tailLines: "1", timestamps: "true" }, `${secondAt.replace("Z", "000000Z")} three\n`],
    [{ limitBytes: "6" }, "one\nzw"],
    [{ limitBytes: "10" }, "one\nzwei "],
  ];
  for (const [query, wanted] of cases) expect((await ask(query)).body, JSON.stringify(query)).toBe(wanted);
});

test.each([
  { query: { tailLines: "-1" }, message: 'tailLines: "-1" is no whole number from 0' },
  { query: { limitBytes: "0" }, message: 'limitBytes: "0" is no whole number from 1' },
  { query: { sinceTime: "yesterday" }, message: /sinceTime: "yesterday" is no time/ },
  { query: { sinceTime: "2026-01-01T00:00:00Z", sinceSeconds: "1" }, message: /at most one/ },
  { query: { container: "nope" }, message: "container nope is not valid for pod p" },
])("$query is refused", async ({ query, message }) => {
  const { ask } = await aProcessPod();
  expect(await ask(query as unknown as Record<string, string>)).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(message) },
  });
});

test("a log that is followed goes on, and ends with the container", async () => {
  const { runs, transport, path, clock } = await aProcessPod();
  runs[0]?.write("before");
  const { values } = await transport.stream(
    { method: "GET", path: `${path}/log`, query: { follow: "true" } },
    new AbortController().signal,
  );
  const heard: unknown[] = [];
  const reading = (async () => {
    for await (const text of values) heard.push(text);
  })();
  await clock.settle();
  expect(heard).toEqual(["before\n"]);
  runs[0]?.write("later");
  await clock.settle();
  expect(heard).toEqual(["before\n", "later\n"]);
  runs[0]?.exit(0);
  await reading;
});

test("a reader that follows gets no more than its bytes, and may go", async () => {
  const { runs, transport, path } = await aProcessPod();
  const follow = (query: Record<string, string>) =>
    transport.stream({ method: "GET", path: `${path}/log`, query: { follow: "true", ...query } }, new AbortController().signal);
  const limited = await follow({ limitBytes: "5" });
  runs[0]?.write("abc");
  runs[0]?.write("def");
  let text = "";
  for await (const piece of limited.values) text += piece;
  expect(text).toBe("abc\nd");
  const { values } = await follow({});
  for await (const _ of values) break;
  runs[0]?.write("nobody listens");
});

test("--previous is the run before; while the container waits for its restart, the log is that of the run that ended", async () => {
  const { runs, ask, clock } = await aProcessPod();
  expect(await ask({ previous: "true" })).toMatchObject({
    status: 400,
    body: { message: 'previous terminated container "main" in pod "p" not found' },
  });
  runs[0]?.write("first");
  runs[0]?.exit(1);
  await clock.runUntil(() => runs.length === 2, 60_000);
  runs[1]?.write("second");
  expect([(await ask()).body, (await ask({ previous: "true" })).body]).toEqual(["second\n", "first\n"]);
  runs[1]?.exit(1);
  await clock.settle();
  expect([(await ask()).body, (await ask({ previous: "true" })).body]).toEqual(["second\n", "second\n"]);
});

test("nobody gets into a process, and is told so", async () => {
  const { transport, path } = await aProcessPod();
  expect(await transport.send({ method: "POST", path: `${path}/exec` })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^exec is not possible: pod p is a process of this machine.*kubectl logs/) },
  });
  expect(await transport.send({ method: "PATCH", path: `${path}/ephemeralcontainers`, body: {} })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^a debug container is not possible: pod p is/) },
  });
});
