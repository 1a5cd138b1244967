/** How refusals read to a reconciler. Rule L-17. */
import { isNotFound } from "@joinery/kube";

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Awaits a write and answers whether its object was still there: 404 on a write is no error (L-17). */
export async function unlessGone(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
