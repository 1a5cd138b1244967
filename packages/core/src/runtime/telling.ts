/** What goes on failing is told, but not at each try: at once when it changes, and again now and then for who reads only the end of a log. */
import type { Clock } from "@joinery/kube";

/** Whether `text` about `subject` should be told now. */
export type Telling = (subject: string, text: string) => boolean;

/** Remembers each subject's last text: there should be few. */
export function createTelling(clock: Clock, everyMs: number): Telling {
  const told = new Map<string, { readonly text: string; readonly atMs: number }>();
  return (subject, text) => {
    const atMs = clock.monotonicMs();
    const before = told.get(subject);
    if (before?.text === text && atMs - before.atMs < everyMs) return false;
    told.set(subject, { text, atMs });
    return true;
  };
}
