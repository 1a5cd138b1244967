/** The controller's log: one JSON object per line with Karpenter's keys. Rules O-23, O-24, O-84…O-88, O-90. */
import { AsyncLocalStorage } from "node:async_hooks";
import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Logger } from "@joinery/core";
import type { Clock } from "@joinery/kube";
import { multistream, type Logger as PinoLogger, pino, type StreamEntry } from "pino";

export interface LogOptions {
  readonly clock: Clock;
  /** `debug`, `info`, `error`; "" is info. */
  readonly level: string;
  /** `stdout`, `stderr`, a file or a `file:` URL each. */
  readonly outputs: readonly string[];
  /** Where it is told that an output cannot be written (O-24). */
  readonly errorOutputs?: readonly string[];
  /** Absent: nobody recorded it. */
  readonly commit: string | undefined;
}

/** A level and message that comes more often within a second is thinned out (O-87). */
const SAMPLE_FIRST = 100;
const SAMPLE_EVERY = 100;
const SAMPLE_SPAN_MS = 1000;

/** Lines are written as they come: there is nothing to flush at the end. */
export type ControllerLog = Logger;

/** @throws where an output cannot be opened */
export function createControllerLog({ clock, level, outputs, errorOutputs = [], commit }: LogOptions): ControllerLog {
  const isTaken = createSampler(clock);
  const complain = createComplaints(clock, errorOutputs);
  const destinations = outputs.map((name) => openOutput(name).on("error", (error: Error) => complain(name, error)));
  const isDebug = level === "debug";
  const reconciles = new AsyncLocalStorage<object>();
  const areOfControllers = new WeakMap<PinoLogger, boolean>();
  // O-88: what speaks for no controller, such as the connection that a reconcile happens to use, does not speak about its object.
  const contextOf = (logger: PinoLogger) => {
    const fields = reconciles.getStore();
    if (fields === undefined) return undefined;
    // A logger's fields are parsed anew whenever they are asked for.
    const isOfController = areOfControllers.get(logger) ?? "controller" in logger.bindings();
    areOfControllers.set(logger, isOfController);
    return isOfController ? fields : undefined;
  };
  const log = pino(
    {
      level: level === "" ? "info" : level,
      messageKey: "message",
      base: { logger: "controller", ...(commit !== undefined && { commit }) },
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      // There are no WARN lines (O-90): what may heal by itself is news, not an error.
      formatters: { level: (label) => ({ level: label === "warn" ? "INFO" : label.toUpperCase() }) },
      hooks: {
        logMethod(args, method, number) {
          if (isTaken(`${number} ${String(args[1] ?? args[0])}`)) method.apply(this, args);
        },
      },
      mixin: (_line, _level, logger) => ({
        ...contextOf(logger),
        ...(isDebug && { caller: callerOf(new Error().stack) }),
      }),
    },
    multistream(destinations.map((stream): StreamEntry => ({ level: isDebug ? "debug" : "info", stream }))),
  );
  // Loggers of controllers are children, which inherit it.
  return Object.assign(log as unknown as Logger, {
    within: <R>(fields: object, action: () => R): R => reconciles.run(fields, action),
  });
}

/** Characters that are kept while an output cannot be written; what comes after is lost. */
const UNWRITTEN_MAX = 2 ** 20;

type Output = ReturnType<typeof pino.destination>;

function openOutput(name: string): Output {
  const dest = name === "stdout" ? 1 : name === "stderr" ? 2 : /^file:/.test(name) ? fileURLToPath(name) : name;
  try {
    if (dest === "" || (typeof dest === "string" && /^[a-z][a-z0-9+.-]*:\/\//i.test(dest))) throw new Error("it is no file");
    return pino.destination({ dest, sync: true, mkdir: typeof dest === "string", maxLength: UNWRITTEN_MAX });
  } catch (error) {
    throw new Error(`cannot open ${JSON.stringify(name)}: ${messageOf(error)}; use stdout, stderr or a file`);
  }
}

/** A full disk must not end the controller; it is told in the other place, once a minute. */
function createComplaints(clock: Clock, names: readonly string[]): (output: string, error: Error) => void {
  const EVERY_MS = 60_000;
  const outputs = names.map((name) => (name === "stdout" ? 1 : name === "stderr" ? 2 : openOutput(name)));
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (output, { message }) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - toldAtMs < EVERY_MS) return;
    toldAtMs = nowMs;
    const line = `${new Date(clock.wallMs()).toISOString()} write error: ${output}: ${message}\n`;
    for (const target of outputs) {
      try {
        if (typeof target === "number") writeSync(target, line);
        else target.write(line);
      } catch {
        // There is nobody left to tell.
      }
    }
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function createSampler(clock: Clock): (key: string) => boolean {
  const counts = new Map<string, number>();
  let spanEndMs = 0;
  return (key) => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= spanEndMs) {
      counts.clear();
      spanEndMs = nowMs + SAMPLE_SPAN_MS;
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= SAMPLE_FIRST || (count - SAMPLE_FIRST) % SAMPLE_EVERY === 0;
  };
}

/** `lifecycle.ts:42`: the first frame outside the logger (O-85). */
function callerOf(stack: string | undefined): string | undefined {
  const frame = (stack ?? "")
    .split("\n")
    .slice(1)
    .find((line) => !line.includes("/pino/") && !line.includes("controller-log.ts"));
  return frame?.match(/([^/\\]+:\d+):\d+\)?$/)?.[1];
}
