import { createRealClock, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { serveMetrics } from "./endpoints.ts";
import { startProfiler } from "./profiling.ts";

const host = "127.0.0.1";
const source = { contentType: "text/plain", metrics: async () => "a 1\n" };
const PATHS = ["", "cmdline", "heap", "heapsnapshot", "profile?seconds=0.05"];

test.each(PATHS)("O-96: without the flag there is no /debug/pprof/%s", async (path) => {
  const endpoint = await serveMetrics({ port: 0, host }, source);
  try {
    expect((await fetch(`http://${host}:${endpoint.port}/debug/pprof/${path}`)).status).toBe(404);
  } finally {
    await endpoint.close();
  }
});

test.each([
  { path: "", type: /^text\/plain/, holds: (text: string) => PATHS.every((name) => text.includes(name.split("?")[0]!)) },
  { path: "cmdline", type: /^text\/plain/, holds: (text: string) => text === process.argv.join("\0") },
  { path: "heap", type: /json/, holds: (text: string) => "head" in JSON.parse(text) },
  { path: "heapsnapshot", type: /json/, holds: (text: string) => JSON.parse(text).nodes.length > 1000 },
  { path: "profile?seconds=0.05", type: /json/, holds: (text: string) => JSON.parse(text).nodes.length > 0 },
])("O-14, O-96: with it there is /debug/pprof/$path", async ({ path, type, holds }) => {
  const profiler = await startProfiler(createRealClock());
  const endpoint = await serveMetrics({ port: 0, host }, source, profiler.answer);
  try {
    const response = await fetch(`http://${host}:${endpoint.port}/debug/pprof/${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(type);
    expect(holds(await response.text())).toBe(true);
    expect(await (await fetch(`http://${host}:${endpoint.port}/metrics`)).text()).toBe("a 1\n");
  } finally {
    await endpoint.close();
    profiler.stop();
  }
});

test.each(["seconds=0", "seconds=soon", "seconds=601", "seconds=-1"])("a profile of %s is refused", async (query) => {
  const profiler = await startProfiler(createVirtualClock({ startMs: 0 }));
  expect(await profiler.answer(new URL(`http://h/debug/pprof/profile?${query}`))).toMatchObject({ status: 400 });
  profiler.stop();
});

test("profiles of Go that Node has not are not found; the folder leads to the index", async () => {
  const profiler = await startProfiler(createVirtualClock({ startMs: 0 }));
  for (const name of ["goroutine", "block", "trace"])
    expect(await profiler.answer(new URL(`http://h/debug/pprof/${name}`))).toBeUndefined();
  expect(await profiler.answer(new URL("http://h/debug/pprof"))).toMatchObject({ status: 301, headers: { location: "/debug/pprof/" } });
  profiler.stop();
});

test("one CPU profile at a time; a stop ends it early", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const profiler = await startProfiler(clock);
  const url = new URL("http://h/debug/pprof/profile");
  const first = profiler.answer(url);
  expect(await profiler.answer(url)).toEqual({ status: 500, body: "a CPU profile is being taken already\n" });
  await clock.advance(30_000);
  expect(await first).toMatchObject({ status: 200 });
  profiler.stop();
});
