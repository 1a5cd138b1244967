/**
 * `--enable-profiling`: where the time and the memory of the process go, on the metrics port. The paths are those of Go's pprof, the
 * formats V8's own, which Chrome's developer tools and speedscope open. Rules O-14, O-96.
 */
import type { Readable } from "node:stream";
import type { Clock } from "@joinery/kube";
import type { Answer } from "./endpoints.ts";

export interface Profiler {
  /** undefined: there is no such profile. */
  answer(url: URL): Promise<Answer | undefined>;
  /** Ends profiles that are being taken. */
  stop(): void;
}

/** One sample per so many bytes that are allocated; Go's figure. */
const HEAP_SAMPLE_BYTES = 512 * 1024;
/** Go's default. */
const CPU_SECONDS = 30;
const CPU_SECONDS_MAX = 600;
const ROOT = "/debug/pprof/";

const INDEX = `Profiles of this process:
  ${ROOT}profile?seconds=${CPU_SECONDS}   where CPU time goes (save as .cpuprofile)
  ${ROOT}heap                 where living objects were allocated, sampled since the start (save as .heapprofile)
  ${ROOT}heapsnapshot         every object; stops the process for seconds and doubles its memory (save as .heapsnapshot)
  ${ROOT}cmdline              the command line
Open them in Chrome's developer tools or in speedscope.
`;

/** Samples allocations from now on. */
export async function startProfiler(clock: Clock): Promise<Profiler> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.startSampling", { samplingInterval: HEAP_SAMPLE_BYTES });
  const stopping = new AbortController();
  let isProfilingCpu = false;

  async function cpu(seconds: number): Promise<Answer> {
    if (isProfilingCpu) return refusal(500, "a CPU profile is being taken already");
    isProfilingCpu = true;
    try {
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
      await clock.sleep(seconds * 1000, stopping.signal).catch(() => {});
      const { profile } = await session.post("Profiler.stop");
      return file("cpuprofile", JSON.stringify(profile));
    } finally {
      isProfilingCpu = false;
    }
  }

  async function heap(): Promise<Answer> {
    const { profile } = await session.post("HeapProfiler.getSamplingProfile");
    return file("heapprofile", JSON.stringify(profile));
  }

  async function heapSnapshot(): Promise<Answer> {
    const { getHeapSnapshot } = await import("node:v8");
    return file("heapsnapshot", getHeapSnapshot());
  }

  return {
    async answer({ pathname, searchParams }) {
      if (pathname === ROOT.slice(0, -1)) return { status: 301, headers: { location: ROOT }, body: "" };
      if (!pathname.startsWith(ROOT)) return undefined;
      switch (pathname.slice(ROOT.length)) {
        case "":
          return { status: 200, body: INDEX };
        case "cmdline":
          return { status: 200, body: process.argv.join("\0") };
        case "heap":
          return heap();
        case "heapsnapshot":
          return heapSnapshot();
        case "profile": {
          const seconds = Number(searchParams.get("seconds") ?? CPU_SECONDS);
          if (seconds > 0 && seconds <= CPU_SECONDS_MAX) return cpu(seconds);
          return refusal(400, `seconds is ${searchParams.get("seconds")}, wanted a number up to ${CPU_SECONDS_MAX}`);
        }
        default:
          return undefined;
      }
    },
    stop() {
      stopping.abort();
      session.disconnect();
    },
  };
}

function file(suffix: string, body: string | Readable): Answer {
  return {
    status: 200,
    headers: { "content-type": "application/json", "content-disposition": `attachment; filename="joinery.${suffix}"` },
    body,
  };
}

function refusal(status: number, message: string): Answer {
  return { status, body: `${message}\n` };
}
