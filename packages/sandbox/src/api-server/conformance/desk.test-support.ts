/** A way to one namespace of the server under test, and what its answers look like. */
import type { ApiResponse, Method, Transport } from "@joinery/kube";
import { expect } from "vitest";
import type { Asked } from "./samples.test-support.ts";

/** A way to one namespace of a server. */
export interface Desk {
  readonly namespace: string;
  ask(method: Method, path: string, body?: unknown, asked?: Asked): Promise<ApiResponse>;
  /** Path of a namespaced collection or object, e.g. `pods/a` or `apps/v1 deployments/web`. */
  path(text: string): string;
}

/** Makes a namespace for one case. */
export async function openDesk(transport: Transport, prefix: string): Promise<Desk> {
  const made = await transport.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { generateName: `${prefix}-` } } });
  expect(made.status).toBe(201);
  const namespace = (made.body as { metadata: { name: string } }).metadata.name;
  return {
    namespace,
    ask: (method, path, body, asked = {}) => transport.send({ method, path, ...(body === undefined ? {} : { body }), ...asked }),
    path: (text) => {
      const [api, rest] = text.includes(" ") ? (text.split(" ") as [string, string]) : ["v1", text];
      return `${api === "v1" ? "/api/v1" : `/apis/${api}`}/namespaces/${namespace}/${rest}`;
    },
  };
}

export interface Suite {
  /** What the server is called in the names of the cases. */
  readonly name: string;
  /** A namespace of its own, for one case. */
  desk(): Promise<Desk>;
}

export interface Meta {
  readonly metadata: { readonly generation?: number; readonly resourceVersion: string; readonly [key: string]: unknown };
}

export interface List {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
  readonly metadata: { readonly continue?: string };
}

export interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: unknown[]; readonly object: unknown }[];
}

export function namesOf(list: List): string[] {
  return list.items.map(({ metadata }) => metadata.name).filter((item) => item !== "kube-root-ca.crt");
}
