/** All objects of one kind, page by page: an expired page begins the list again, and a server that is busy is asked again. */
import type { Kind, KubeObject } from "@joinery/api";
import { ApiError, type Clock, isGone, type KubeClient, type ListOptions, type ObjectList, TransportError } from "@joinery/kube";

export interface ListKindOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Takes each object of a page; its result is kept, and the page is not. */
  readonly keep: (object: KubeObject) => void;
  /** The list begins again: forget what was kept. */
  readonly restart: () => void;
  /** After every page; `remaining` is the server's estimate, undefined where it gives none. */
  readonly onPage: (count: number, remaining: number | undefined) => void;
}

/** client-go's page, of which one of pods is some megabytes. */
const PAGE_SIZE = 500;

/** A token lives for minutes: a list that expires this often is slower than the cluster changes. */
const LISTS_MAX = 3;
const TRIES_MAX = 5;
const RETRY_MS_MIN = 500;
/** What a server may ask to wait before a person would rather be told. */
const RETRY_MS_MAX = 10_000;

export async function listKind(kind: Kind, options: ListKindOptions): Promise<void> {
  for (let list = 1; ; list++) {
    try {
      await listOnce(kind, options);
      return;
    } catch (error) {
      if (!isGone(error) || list === LISTS_MAX) throw error;
      options.restart();
    }
  }
}

async function listOnce(kind: Kind, { client, clock, keep, onPage }: ListKindOptions): Promise<void> {
  let next: string | undefined;
  do {
    const page = await listPatiently(client, kind, { limit: PAGE_SIZE, ...(next !== undefined && { continue: next }) }, clock);
    for (const object of page.items) keep(object);
    onPage(page.items.length, page.remainingItemCount);
    next = page.continue;
  } while (next !== undefined);
}

async function listPatiently(client: KubeClient, kind: Kind, options: ListOptions, clock: Clock): Promise<ObjectList<KubeObject>> {
  for (let tries = 1; ; tries++) {
    try {
      return await client.list(kind, options);
    } catch (error) {
      if (!mayPass(error) || tries === TRIES_MAX) throw error;
      const askedMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      await clock.sleep(Math.min(askedMs ?? RETRY_MS_MIN * 2 ** (tries - 1), RETRY_MS_MAX));
    }
  }
}

/** A server that cannot be reached at all is told at once: it is more often the wrong address than a busy one. */
function mayPass(error: unknown): boolean {
  if (error instanceof TransportError) return error.fault === "broken";
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}
