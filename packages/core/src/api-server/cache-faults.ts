/** Why kinds cannot be listed and watched, in words that say what would help, and without repeating them at each try. Rules O-67, O-69. */
import type { Kind } from "@joinery/api";
import { ApiError, type Clock, TransportError } from "@joinery/kube";
import type { Logger } from "../logger.ts";
import { messageOf } from "../runtime/answers.ts";
import { createTelling } from "../runtime/telling.ts";

export interface CacheFaults {
  /** A list or watch of the kind failed, and is tried again. */
  note(kind: Kind, error: unknown): void;
  /** What was last wrong with the kind. */
  of(kind: Kind): string | undefined;
}

const TELL_EVERY_MS = 60_000;

export function createCacheFaults(clock: Clock, log: Logger): CacheFaults {
  const faults = new Map<Kind, string>();
  const isNews = createTelling(clock, TELL_EVERY_MS);
  return {
    note(kind, error) {
      const text = whyUnwatched(kind, error);
      faults.set(kind, text);
      if (!isNews(kind.kind, text)) return;
      // That the API server does not answer is told once for all kinds.
      const isTold = error instanceof TransportError;
      log[isTold ? "debug" : "error"]({ kind: kind.kind, error: text }, "cannot watch, trying again");
    },
    of: (kind) => faults.get(kind),
  };
}

export function whyUnwatched({ group, resource, version }: Kind, error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof ApiError)) return message;
  const name = group === "" ? resource : `${resource}.${group}`;
  if (error.status === 404) return `${name} ${version} is not served: its CustomResourceDefinition is missing or has another version`;
  if (error.status === 403) return `${message}: the role needs get, list and watch of ${name}`;
  return message;
}
