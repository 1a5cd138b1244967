/** A cluster over HTTP as some reader sees it: what the sandbox's API server answers, but for the paths that are refused. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiResponse, Transport } from "@joinery/kube";

export interface GuardedServer {
  readonly kubeconfig: string;
  /** Resource → the status that answers for it instead. Changed by tests. */
  readonly refusals: Map<string, number>;
  /** `METHOD path`, without the query, of every request. */
  readonly requests: string[];
  close(): Promise<void>;
}

export async function guardedServer(transport: Transport): Promise<GuardedServer> {
  const refusals = new Map<string, number>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://server");
    requests.push(`${request.method} ${pathname}`);
    const refusal = refusals.get(pathname.split("/").at(-1) ?? "") ?? refusals.get("*");
    const answer: Promise<ApiResponse> =
      refusal === undefined
        ? transport.send({ method: "GET", path: pathname, query: Object.fromEntries(searchParams) })
        : Promise.resolve({ status: refusal, body: statusOf(refusal, pathname) });
    void answer.then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "joinery-live-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  return {
    kubeconfig,
    refusals,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

function statusOf(code: number, path: string): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, message: `no ${path} for you` };
}

/** Context `prod` reaches the server, `shop` too but names a namespace, `gone` reaches nothing. */
function kubeconfigText(server: string): string {
  return `apiVersion: v1
kind: Config
current-context: prod
clusters:
- {name: prod, cluster: {server: "${server}"}}
- {name: gone, cluster: {server: "http://127.0.0.1:1"}}
users: [{name: reader, user: {token: secret}}]
contexts:
- {name: prod, context: {cluster: prod, user: reader}}
- {name: shop, context: {cluster: prod, user: reader, namespace: shop}}
- {name: gone, context: {cluster: gone, user: reader}}
`;
}
