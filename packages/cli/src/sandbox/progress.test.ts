import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

function stage(isInteractive: boolean, signal = new AbortController().signal) {
  const clock = createVirtualClock({ startMs: 0 });
  let text = "";
  const terminal = {
    write(more: string) {
      text += more;
    },
    isInteractive,
    columns: 60,
    style: (_: unknown, plain: string) => plain,
  };
  return { clock, progress: createProgress({ terminal, clock, clusterClock: clock, signal }), read: () => text };
}

test("piped: one plain line per step, with the cluster's time and the last story", async () => {
  const { clock, progress, read } = stage(false);
  const work = progress.step("Nodes appear", async (tell) => {
    tell("1 node");
    await clock.sleep(125_000);
    tell("3 nodes");
  });
  await clock.advance(125_000);
  await work;
  expect(read()).toBe("✔  2m05s  Nodes appear: 3 nodes\n");
});

test("a step that fails says so and throws on", async () => {
  const { progress, read } = stage(false);
  await expect(progress.step("API server", () => Promise.reject(new Error("no port")))).rejects.toThrow("no port");
  expect(read()).toBe("✘     0s  API server\n");
});

test("a step that people stop has not failed", async () => {
  const { progress, read } = stage(false, AbortSignal.abort());
  await expect(progress.step("Fargate profile", () => Promise.reject(new Error("received SIGINT")))).rejects.toThrow("SIGINT");
  expect(read()).toBe("■     0s  Fargate profile: stopped\n");
});

test("on a terminal the line at work is rewritten, never longer than the terminal, and ends as a plain line", async () => {
  const { clock, progress, read } = stage(true);
  const work = progress.step("Nodes", async (tell) => {
    tell("x".repeat(100));
    await clock.sleep(250);
    tell("done");
  });
  await clock.advance(250);
  await work;
  const parts = read().split("\r\u001b[2K").slice(1);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.replace("\n", "").length).toBeLessThan(60);
  expect(parts.at(-1)).toBe("✔     0s  Nodes: done\n");
});
