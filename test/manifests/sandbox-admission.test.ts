/** The sandbox's API server takes and refuses what our schemas do, and so what a real one does (`test/kubernetes/admission.test.ts`). */
import { CustomResourceDefinitions, crdOf, OWNED_KINDS } from "@joinery/api";
import { createKubeClient, createRandom, createVirtualClock } from "@joinery/kube";
import { createApiServer } from "@joinery/sandbox";
import { beforeAll, expect, test } from "vitest";
import { CORE_CASES, NODE_CLASS_CASES, serverVerdict } from "./server-verdict.ts";

const server = createApiServer({ clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) });
const transport = server.transport("admission");

beforeAll(async () => {
  const client = createKubeClient(transport);
  for (const kind of OWNED_KINDS) await client.create(CustomResourceDefinitions, crdOf(kind));
});

test.each([...CORE_CASES, ...NODE_CLASS_CASES])("$title", async (one) => {
  const { isTaken, message } = await serverVerdict(one, transport);
  expect({ isTaken, message }).toEqual(
    one.refusal === undefined ? { isTaken: true, message: "" } : { isTaken: false, message: expect.stringMatching(one.refusal) },
  );
});
