/** Nodes that have been launched and appear once their registration delay has passed. */
import { type Node, Nodes } from "@joinery/api";
import { type Clock, isAlreadyExists, type KubeClient } from "@joinery/kube";

/** Before a Node that the API server did not take is tried again. */
const RETRY_MS = 1000;

export class WaitingNodes {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { readonly node: Node; readonly cancel: () => void }>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  find(name: string): Node | undefined {
    return this.#waiting.get(name)?.node;
  }

  all(): readonly Node[] {
    return [...this.#waiting.values()].map(({ node }) => node);
  }

  /** The Node appears after `delayMs`. A second call for the same name changes nothing. */
  add(node: Node, delayMs: number): void {
    const name = node.metadata?.name ?? "";
    if (this.#waiting.has(name)) return;
    const cancel = this.#clock.after(delayMs, () => void this.#appear(node));
    this.#waiting.set(name, { node, cancel });
  }

  /** Whether there was something to forget. */
  remove(name: string): boolean {
    this.#waiting.get(name)?.cancel();
    return this.#waiting.delete(name);
  }

  async #appear(node: Node): Promise<void> {
    const name = node.metadata?.name ?? "";
    try {
      await createNode(this.#client, node);
      // Terminated while the request was on its way: the Node must not outlive its NodeClaim.
      if (!this.#waiting.delete(name)) await this.#client.delete(Nodes, { name });
    } catch {
      if (!this.#waiting.has(name)) return;
      this.#waiting.delete(name);
      this.add(node, RETRY_MS);
    }
  }
}

/** Creates the Node; one that exists already is left as it is. */
export async function createNode(client: KubeClient, node: Node, signal?: AbortSignal): Promise<void> {
  try {
    await client.create(Nodes, node, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
