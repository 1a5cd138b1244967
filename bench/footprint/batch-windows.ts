/** When the batch windows of a controller close, from when pods began to wait. Rules S-3, S-4 with the default spans. */

const IDLE_MS = 1000;
const LONGEST_MS = 10_000;

/** For each of the times, in order, when the window closes that the pod was in. */
export function windowCloses(waitingSinceMs: readonly number[]): number[] {
  const sorted = waitingSinceMs.toSorted((a, b) => a - b);
  const closes: number[] = [];
  for (let first = 0; first < sorted.length; ) {
    let last = first;
    const latestMs = sorted[first]! + LONGEST_MS;
    while (last + 1 < sorted.length && sorted[last + 1]! <= Math.min(latestMs, sorted[last]! + IDLE_MS)) last++;
    const closesMs = Math.min(latestMs, sorted[last]! + IDLE_MS);
    for (; first <= last; first++) closes.push(closesMs);
  }
  return closes;
}
