/** Tables of objects: the real kubectl's where there is one on PATH, else the server's own table, printed the same way. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Kind } from "@joinery/api";
import { collectionPath, type Transport } from "@joinery/kube";
import { renderTable } from "../terminal/table.ts";

/** The kubectl that a shell would run. */
export function findKubectl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = process.platform === "win32" ? "kubectl.exe" : "kubectl";
  return (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** What kubectl prints; undefined when it fails. */
export function runKubectl(path: string, kubeconfig: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(path, ["--kubeconfig", kubeconfig, ...args], { timeout: 20_000 }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}

interface TableBody {
  readonly columnDefinitions?: readonly { readonly name: string }[];
  readonly rows?: readonly { readonly cells: readonly unknown[] }[];
}

/** `kubectl get … -o wide` without kubectl: every column that the server gives. */
export async function serverTable(transport: Transport, kind: Kind, namespace: string | undefined): Promise<string> {
  const { status, body } = await transport.send({
    method: "GET",
    path: collectionPath(kind, namespace),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  });
  const { columnDefinitions = [], rows = [] } = body as TableBody;
  if (status !== 200) throw new Error(`Cannot list ${kind.resource}: the API server answered ${status}`);
  const heads = columnDefinitions.map(({ name }) => name.toUpperCase());
  return `${renderTable(
    heads,
    rows.map(({ cells }) => cells.map(cellText)),
  ).join("\n")}\n`;
}

function cellText(cell: unknown): string {
  return cell === null || cell === undefined || cell === "" ? "<none>" : String(cell);
}
