/** A world for tests: virtual clock, a seed, and all faults of the control plane kept for the test to look at. */
import type { Pod } from "@joinery/api";
import { createRandom, createVirtualClock, type KubeClient, type VirtualClock } from "@joinery/kube";
import { createWorld, type World, type WorldFault, type WorldOptions } from "./world.ts";

export interface TestWorld {
  readonly world: World;
  readonly clock: VirtualClock;
  readonly faults: WorldFault[];
  /** Whoever types commands. */
  readonly user: KubeClient;
  /** `name phase node` of every pod, sorted. */
  podLines(): string[];
  podNamed(name: string): Pod | undefined;
}

export async function aWorld({ seed = 1, ...options }: Partial<WorldOptions> & { readonly seed?: number } = {}): Promise<TestWorld> {
  const clock = createVirtualClock({ startMs: Date.parse("2026-01-01T00:00:00Z") });
  const faults: WorldFault[] = [];
  const world = createWorld({
    clock,
    random: createRandom(seed),
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  await clock.settle();
  await world.ready;
  return {
    world,
    clock,
    faults,
    user: world.client("kubectl"),
    podLines: () =>
      world
        .pods()
        .map((pod) => `${pod.metadata?.name} ${pod.status?.phase} ${pod.spec.nodeName ?? "-"}`)
        .sort(),
    podNamed: (name) => world.pods().find(({ metadata }) => metadata?.name === name),
  };
}
