/**
 * When V8 looks through its whole heap. It weighs how fast the program fills the heap against how fast it is collected, both by the clock on
 * the wall; a process that a quota makes to wait seems to fill it slowly, and is made to collect after every few megabytes. So the heap may
 * always double instead, up to the limit that it has. New objects get all the room there is for them (`young-generation.ts`) as soon as 1 MiB is too
 * little, for a start makes many that last.
 */
import { setFlagsFromString } from "node:v8";

const GROWTHS = { "--heap-growing-percent": 100, "--semi-space-growth-factor": 8 };

interface Rooms {
  /** Flags that the process was started with: who gave one of them decides. */
  readonly execArgv?: readonly string[];
  readonly setFlag?: (flag: string) => void;
}

/** V8 reads these flags at each collection, so they hold from the next one on. */
export function letHeapGrow({ execArgv = process.execArgv, setFlag = setFlagsFromString }: Rooms = {}): void {
  for (const [flag, value] of Object.entries(GROWTHS)) {
    if (!execArgv.some((given) => given.replaceAll("_", "-").startsWith(flag))) setFlag(`${flag}=${value}`);
  }
}
