/** The simulated EC2 for other processes: its port as JSON over HTTP on 127.0.0.1. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Ec2Port, handleEc2Request } from "@joinery/aws";
import type { Method } from "@joinery/kube";

export interface LoopbackEc2 {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveEc2(port: Ec2Port): Promise<LoopbackEc2> {
  const server = createServer((request, response) => {
    void answer(port, request).then(
      ({ status, body }) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1" }, resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

async function answer(port: Ec2Port, request: IncomingMessage): Promise<{ readonly status: number; readonly body: unknown }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  const found = await handleEc2Request(port, { method: request.method as Method, path: request.url ?? "/", body });
  return found ?? { status: 404, body: { code: "NotFound", message: `no such path ${request.url}` } };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
