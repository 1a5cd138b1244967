/**
 * When V8 looks through its whole heap. It weighs how fast the program fills the heap against how fast it is collected, both by the clock on
 * the wall; a process that a quota makes to wait seems to fill it slowly, and is made to collect after every few megabytes. So the heap may
 * always double instead, up to the limit that it has.
 */
import { setFlagsFromString } from "node:v8";

const FLAG = "--heap-growing-percent";

interface Rooms {
  /** Flags that the process was started with: who gave one of them decides. */
  readonly execArgv?: readonly string[];
  readonly setFlag?: (flag: string) => void;
}

/** V8 reads this flag at each collection, so it holds from the next one on. */
export function letHeapDouble({ execArgv = process.execArgv, setFlag = setFlagsFromString }: Rooms = {}): void {
  if (!execArgv.some((flag) => flag.replaceAll("_", "-").startsWith(FLAG))) setFlag(`${FLAG}=100`);
}
