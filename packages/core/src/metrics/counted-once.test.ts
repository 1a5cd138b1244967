/** What is counted when it is written: a pass that a conflict repeats counts nothing twice. Rules L-17, O-181, O-182, O-186. */
import { expect, test } from "vitest";
import { recordingLog } from "../testing/recording-log.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorldWithNode, NODE_CLAIMS, NODES } from "../testing/world.ts";

const CONFLICT = { status: 409, body: { code: 409, reason: "Conflict", message: "the object has been modified" } };

/** The write that brings it about, as it stands in the request's body. */
test.each([
  { rule: "O-186", name: "karpenter_nodes_drained_total", write: /"type":"Drained","status":"True"/ },
  { rule: "O-181", name: "karpenter_nodeclaims_instance_termination_duration_seconds_count", write: /"finalizers":(null|\[\])/ },
  { rule: "O-182", name: "karpenter_nodeclaims_termination_duration_seconds_count", write: /"finalizers":(null|\[\])/ },
])("$rule: $name is 1 though the write that it tells of had to be repeated", async ({ name, write }) => {
  const { log, lines } = recordingLog();
  const { world, node, controller } = await createWorldWithNode(["a"], {}, { log });
  let refused = 0;
  world.api.faults.before = ({ method, path, body }) => {
    if (method !== "PATCH" || !path.startsWith(NODE_CLAIMS) || !write.test(JSON.stringify(body)) || refused === 2) return undefined;
    refused++;
    return CONFLICT;
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => world.claims().length === 0);
  expect(refused).toBe(2);
  expect((await scrape(controller.registry)).value(name, { nodepool: "default" })).toBe(1);
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});
