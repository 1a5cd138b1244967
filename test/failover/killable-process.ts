/** One controller process in a simulation: it can be killed at any await, and from then on nothing of it moves. */
import { AWS_VOCABULARY, Ec2NodeClasses } from "@joinery/api";
import { createAwsProvider, type Ec2Catalogue, type Ec2Port, ec2PortOf, handlerOf } from "@joinery/aws";
import { type Controller, type CoreOptions, createController, type LeaderElectionOptions } from "@joinery/core";
import { type ApiRequest, type Clock, type RandomSource, sleepOn, type Transport } from "@joinery/kube";

export interface ProcessOptions {
  readonly name: string;
  readonly transport: Transport;
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly catalogue: Ec2Catalogue;
  readonly clusterName: string;
  /** The controller's own when absent. */
  readonly leaseTiming?: LeaderElectionOptions["timing"];
  readonly options?: Partial<CoreOptions>;
  /** Called around every call that the process makes; the place to kill it. */
  readonly onCall?: (call: Call, process: KillableProcess) => void;
}

/** `before`: the other side has not seen it. `after`: it took effect, and the process has not seen the answer. */
export interface Call {
  readonly moment: "before" | "after";
  readonly what: { readonly kind: "api"; readonly request: ApiRequest } | { readonly kind: "ec2"; readonly name: string };
}

export interface KillableProcess {
  readonly name: string;
  readonly isLeading: boolean;
  readonly isAlive: boolean;
  readonly controller: Controller;
  /** kill -9. */
  kill(): void;
  /** SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
  /** Calls back at its end, however it comes. */
  onDeath(listener: () => void): void;
  /** Resolves with the error, if any, when the process ends by itself. */
  readonly ended: Promise<unknown>;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export function startProcess(options: ProcessOptions): KillableProcess {
  const { name, clusterName, catalogue, onCall } = options;
  let isAlive = true;
  const stopping = new AbortController();
  /** Connections and timers end with their process. */
  const death = new AbortController();

  /** Runs one call of the process; what a dead process waits for never comes. */
  async function passing<T>(what: Call["what"], call: () => Promise<T>): Promise<T> {
    if (isAlive) onCall?.({ moment: "before", what }, self);
    if (!isAlive) return never();
    const answer = await call().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (isAlive) onCall?.({ moment: "after", what }, self);
    if (!isAlive) return never();
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  const transport: Transport = {
    send: (request, signal) => passing({ kind: "api", request }, () => options.transport.send(request, signal)),
    async stream(request, signal) {
      const stream = await passing({ kind: "api", request }, () =>
        options.transport.stream(request, AbortSignal.any([signal, death.signal])),
      );
      return { ...stream, values: whileAlive(stream.values) };
    },
    close: async () => {},
  };

  async function* whileAlive(values: AsyncIterable<unknown>): AsyncIterable<unknown> {
    for await (const value of values) {
      if (!isAlive) await never();
      yield value;
    }
    if (!isAlive) await never();
  }

  const timers = new Set<() => void>();
  death.signal.addEventListener("abort", () => {
    for (const cancel of timers) cancel();
    timers.clear();
  });

  function after(ms: number, action: () => void): () => void {
    const cancelTimer = options.clock.after(ms, () => {
      timers.delete(cancel);
      if (isAlive) action();
    });
    const cancel = () => {
      timers.delete(cancel);
      cancelTimer();
    };
    timers.add(cancel);
    return cancel;
  }

  const clock: Clock = {
    wallMs: () => options.clock.wallMs(),
    monotonicMs: () => options.clock.monotonicMs(),
    sleep: (ms, signal) => sleepOn(after, ms, signal),
    after,
  };

  const ec2 = ec2PortOf((name, request, signal) => passing({ kind: "ec2", name }, () => handlerOf(options.ec2)(name, request, signal)));

  const controller = createController({
    transport,
    clock,
    random: options.random,
    leaderElection: { namespace: "karpenter", identity: name, ...(options.leaseTiming && { timing: options.leaseTiming }) },
    ...(options.options && { options: options.options }),
    provider: {
      nodeClassKinds: [Ec2NodeClasses],
      vocabulary: AWS_VOCABULARY,
      async create({ kube, random, nodeClaims }) {
        const provider = await createAwsProvider({ ec2, client: kube, clock, random, clusterName, region: "us-east-1", catalogue });
        return { cloud: provider, loops: provider.controllers({ nodeClaims, onError: () => {} }) };
      },
    },
  });

  const ended = controller.run(stopping.signal).then(
    () => undefined,
    (error: unknown) => error ?? new Error("ended"),
  );
  const self: KillableProcess = {
    name,
    get isLeading() {
      return isAlive && controller.state === "leading";
    },
    get isAlive() {
      return isAlive;
    },
    controller,
    kill() {
      isAlive = false;
      death.abort(new Error("killed"));
      // A composite signal that is listened to is held until it aborts, and all of the process with it.
      stopping.abort(new Error("killed"));
    },
    onDeath: (listener) => death.signal.addEventListener("abort", listener, { once: true }),
    async stop() {
      stopping.abort(new Error("SIGTERM"));
      await ended;
    },
    ended,
  };
  void ended.then(() => self.kill());
  return self;
}
