/** The way to a server on loopback, which a test can open and close. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface Relay {
  /** Chooses a port of its own for the server at `port`; nobody listens there yet. */
  reserve(port: number): Promise<number>;
  open(): Promise<void>;
  /** Breaks what runs over it. */
  close(): Promise<void>;
}

export function createRelay(): Relay {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  let target = 0;

  function open(): Promise<void> {
    const relay = createServer((near) => {
      const far = connect(target, "127.0.0.1");
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.on("error", () => to.destroy()).on("close", () => sockets.delete(from));
        from.pipe(to);
      }
    });
    server = relay;
    return new Promise((resolve, reject) => {
      relay.once("error", reject);
      relay.listen(port, "127.0.0.1", resolve);
    });
  }

  async function close(): Promise<void> {
    const relay = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => (relay === undefined ? resolve() : relay.close(() => resolve())));
  }

  return {
    async reserve(to) {
      target = to;
      await open();
      const address = server?.address() as AddressInfo | null;
      port = address?.port ?? 0;
      await close();
      return port;
    },
    open,
    close,
  };
}
