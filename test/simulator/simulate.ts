/**
 * Days of a cluster's life: storms, in which nothing may break, each followed by calm, in which everything must settle, and by quiet
 * hours. Everything follows from the seed; the same seed lives the same days however many are asked for.
 */
import type { Random } from "@joinery/kube";
import { createCapacityPeople } from "./capacity-people.ts";
import type { Gates } from "./gates.ts";
import { staleness, unrest } from "./invariants/rest.ts";
import { timeText } from "./journal.ts";
import { createPeople } from "./people.ts";
import { createSimulation, type Simulation } from "./simulation.ts";
import { Violation } from "./violation.ts";
import { aStorm, CALM, type FaultKind, happens, type Weather } from "./weather.ts";

export interface SimulateOptions {
  readonly seed: string | number;
  readonly days: number;
  /** `all` when absent. */
  readonly gates?: Gates;
  readonly onLine?: (line: string) => void;
  /** Called after each virtual day. The last one is that for which it answers "enough". */
  readonly onDay?: (report: Report) => "enough" | undefined;
}

export interface Report {
  readonly seed: string | number;
  readonly virtualDays: number;
  readonly storms: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly journalLines: number;
  readonly digest: string;
  /** The law that was broken, and the lines that led there. */
  readonly violation?: Violation;
  readonly lastLines?: readonly string[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const STORMS_PER_DAY = 2;
/** A failed step is tried again after up to 1000 s (L-18), a dead watch is found out within ten minutes, and nodes take their time. */
const SETTLE_MS = 60 * MINUTE_MS;

export async function simulate({ seed, days, gates = "all", onLine, onDay }: SimulateOptions): Promise<Report> {
  const simulation = await createSimulation({ seed, gates, onLine });
  const { clock, journal, faults, random } = simulation;
  let storms = 0;
  const report = (): Report => ({
    seed,
    virtualDays: clock.monotonicMs() / DAY_MS,
    storms,
    faults: faults.counts,
    journalLines: journal.lineCount,
    digest: journal.digest(),
  });
  try {
    while (storms < days * STORMS_PER_DAY) {
      const chance = random.split(`storm/${storms}`);
      await storm(simulation, chance, storms);
      await calm(simulation);
      storms++;
      await simulation.run((storms * DAY_MS) / STORMS_PER_DAY - clock.monotonicMs());
      if (storms % STORMS_PER_DAY === 0 && onDay?.(report()) === "enough") break;
    }
    return report();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { ...report(), violation: error, lastLines: journal.tail() };
  } finally {
    await simulation.stop();
  }
}

async function storm(simulation: Simulation, random: Random, number: number): Promise<void> {
  const { ec2, journal } = simulation;
  const weather = aStorm(random);
  const chance = simulation.random.split(`people/${number}`);
  const planners = simulation.gates === "all" ? createCapacityPeople({ ...simulation, random: chance }) : undefined;
  const people = createPeople({ ...simulation, random: chance, others: planners?.habits });
  journal.write(`storm ${number}: ${JSON.stringify(weather)}`);
  simulation.setWeather(weather);
  ec2.control.setWeather({
    throttleChance: 0.1 * random.fraction(),
    errorChance: 0.1 * random.fraction(),
    lostReplyChance: 0.15 * random.fraction(),
    delayMs: [20, 100 + random.below(4000)],
  });
  const endMs = simulation.clock.monotonicMs() + (10 + random.below(30)) * MINUTE_MS;
  while (simulation.clock.monotonicMs() < endMs) {
    journal.write(`somebody ${await simulation.done(people.act())}`);
    strike(simulation, weather, random);
    await simulation.run(random.below(MINUTE_MS));
  }
  journal.write("calm");
  simulation.setWeather(CALM);
  ec2.control.setWeather({ throttleChance: 0, errorChance: 0, lostReplyChance: 0, delayMs: [20, 120] });
  await simulation.done(people.relax());
  if (planners !== undefined) await simulation.done(planners.relax());
}

/** What befalls machines and networks. */
function strike({ ec2, truth, faults, journal, replicas }: Simulation, weather: Weather, random: Random): void {
  const tell = (kind: FaultKind, detail: string) => {
    faults.count(kind);
    journal.write(`fault ${kind}: ${detail}`);
  };
  for (const replica of replicas()) {
    if (!happens("partition", weather, random)) continue;
    const forMs = random.below(3 * MINUTE_MS);
    replica.cutOff(forMs);
    tell("partition", `${replica.name} for ${forMs} ms`);
  }
  const living = truth.living();
  const victim = living.length === 0 ? undefined : living[random.below(living.length)];
  switch (random.below(12)) {
    case 0: {
      const capacityType = random.below(2) === 0 ? "spot" : "on-demand";
      const zone = `us-east-1${"abc"[random.below(3)]}`;
      ec2.control.limitCapacity({ capacityType, zone }, 0, random.below(5 * MINUTE_MS));
      tell("cloud-no-capacity", `${capacityType} in ${zone}`);
      return;
    }
    case 1:
      if (victim === undefined) return;
      ec2.control.interruptSpot(victim.id);
      tell("spot-loss", victim.id);
      return;
    case 2: {
      if (victim === undefined) return;
      tell("machine-loss", victim.id);
      void ec2.terminateInstances({ InstanceIds: [victim.id] }).catch(() => {});
      return;
    }
  }
}

async function calm(simulation: Simulation): Promise<void> {
  const { clock, journal, world, truth, gates, replicas } = simulation;
  const rest = { truth, world, gates, replicas };
  let nextLookMs = 0;
  const isSettled = await simulation.run(SETTLE_MS, () => {
    if (clock.monotonicMs() < nextLookMs) return false;
    nextLookMs = clock.monotonicMs() + 1000;
    return unrest(rest).length === 0 && staleness(rest).length === 0;
  });
  if (isSettled) {
    journal.write(`settled at ${timeText(clock.monotonicMs())}`);
    return;
  }
  // A replica that believes what is not so is the nearer cause.
  const stale = staleness(rest);
  const error =
    stale.length > 0
      ? new Violation("caches equal the API server", stale.slice(0, 8).join("; "))
      : new Violation("everything settles", unrest(rest).slice(0, 8).join("; "));
  journal.write(`VIOLATION ${error.message}`);
  throw error;
}
