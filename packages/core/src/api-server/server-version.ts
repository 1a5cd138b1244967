/** Which Kubernetes this is, said when it changes, and whether it is one that Joinery is meant for. Rules O-70, X-1. */
import type { KubeClient } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { once, SINGLETON } from "../runtime/source.ts";
import { again, type Step } from "../runtime/step.ts";

/** minors of Kubernetes 1 that the AWS provider 1.15 supports. */
const SUPPORTED = { first: 26, last: 37 };
/** Karpenter asks every five minutes; a control plane is upgraded a few times a year. */
const PERIOD_MS = 3_600_000;

/** `1.36` of `{"major":"1","minor":"36+"}`; undefined for what is no answer. */
export function versionIn(body: unknown): string | undefined {
  const { major, minor } = (body ?? {}) as { readonly major?: unknown; readonly minor?: unknown };
  const [first, second] = [/^\d+/.exec(String(major ?? ""))?.[0], /^\d+/.exec(String(minor ?? ""))?.[0]];
  return first === undefined || second === undefined ? undefined : `${first}.${second}`;
}

export function isSupported(version: string): boolean {
  const [major, minor = 0] = version.split(".").map(Number);
  return major === 1 && minor >= SUPPORTED.first && minor <= SUPPORTED.last;
}

export function createServerVersionLoop(rooms: Rooms): Loop {
  let told: string | undefined;
  return createLoop(
    {
      name: "providers.version",
      find: (key) => (key === SINGLETON ? rooms : undefined),
      reconciler: { reconcile: (_, signal) => look(rooms.kube, signal) },
      sources: [once],
      workers: 1,
    },
    rooms,
  );

  async function look(kube: KubeClient, signal: AbortSignal): Promise<Step> {
    const version = versionIn(await kube.raw("/version", signal));
    if (version === undefined) throw new Error("the API server does not say which version it is");
    if (version !== told) tell(version);
    told = version;
    return again(PERIOD_MS);
  }

  /** Nothing stops for it: what works goes on, and what does not has been announced. */
  function tell(version: string): void {
    rooms.log.debug({ version }, "discovered kubernetes version");
    if (isSupported(version)) return;
    const range = `1.${SUPPORTED.first} to 1.${SUPPORTED.last}`;
    rooms.log.error({ version, error: `Kubernetes ${version} is not supported, want ${range}` }, "kubernetes version is not supported");
  }
}
