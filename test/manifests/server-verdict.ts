/** What an API server says to the admission cases of `@joinery/api`: the same objects, asked of a server with our CRDs. */
import { type Kind, type KubeObject, ownedKindOf } from "@joinery/api";
import { collectionPath, objectPath, type Transport } from "@joinery/kube";
import type { AdmissionCase } from "../../packages/api/src/owned/admission-desk.test-support.ts";

export { CORE_CASES } from "../../packages/api/src/owned/admission-cases.test-support.ts";
export { NODE_CLASS_CASES } from "../../packages/api/src/owned/admission-cases-ec2.test-support.ts";

interface Verdict {
  readonly isTaken: boolean;
  /** Of the refusal; "" where it is taken. */
  readonly message: string;
}

/** Strict and dry, as `kubectl apply --validate=strict --dry-run=server`; what is stored before an update is really stored, and deleted afterwards. */
export async function serverVerdict({ object, old }: AdmissionCase, transport: Transport): Promise<Verdict> {
  const kind = ownedKindOf(object);
  if (kind === undefined) throw new Error(`no kind of ours: ${JSON.stringify(object)}`);
  const query = { dryRun: "All", fieldValidation: "Strict" };
  if (old === undefined) return verdictIn(await transport.send({ method: "POST", path: collectionOf(kind, object), query, body: object }));
  const stored = await transport.send({ method: "POST", path: collectionOf(kind, old), body: old });
  if (stored.status !== 201) throw new Error(`what is to be changed is refused: ${JSON.stringify(stored.body)}`);
  const { metadata } = stored.body as KubeObject;
  const path = objectPath(kind, { name: metadata?.name ?? "", ...(metadata?.namespace && { namespace: metadata.namespace }) });
  try {
    const { metadata: wished } = object as KubeObject;
    const body = { ...object, metadata: { ...wished, resourceVersion: metadata?.resourceVersion } };
    return verdictIn(await transport.send({ method: "PUT", path, query, body }));
  } finally {
    await transport.send({ method: "DELETE", path });
  }
}

function collectionOf(kind: Kind, { metadata }: KubeObject): string {
  return collectionPath(kind, metadata?.namespace);
}

function verdictIn({ status, body }: { readonly status: number; readonly body: unknown }): Verdict {
  if (status < 400) return { isTaken: true, message: "" };
  return { isTaken: false, message: (body as { readonly message?: string }).message ?? "" };
}
