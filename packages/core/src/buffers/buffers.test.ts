import type { CapacityBuffer, NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { bindPod, createWorld, createWorldWithNode, NODE_CLAIMS, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const options = { isCapacityBufferOn: true };
const BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers";
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web";
const TEMPLATE = "/api/v1/namespaces/default/podtemplates/room";

const containers = (cpu: string) => ({ containers: [{ name: "main", resources: { requests: { cpu } } }] });
const putDeployment = (world: World, replicas: number, cpu = "1") =>
  world.api.put(DEPLOYMENT, { spec: { replicas, template: { metadata: { labels: { app: "web" } }, spec: containers(cpu) } } });
const putTemplate = (world: World, cpu = "1") => world.api.put(TEMPLATE, { template: { spec: containers(cpu) } });
const putBuffer = (world: World, spec: object, name = "room") => world.api.put(`${BUFFERS}/${name}`, { spec });
const status = (world: World, name = "room") => world.api.find<CapacityBuffer>(`${BUFFERS}/${name}`)?.status;
const condition = (world: World, type: string, name = "room") => {
  const found = status(world, name)?.conditions?.find((each) => each.type === type);
  return found && [found.status, found.reason];
};
const isReady = (claim: NodeClaim) => claimCondition(claim, "Ready").status === "True";
const scalable = { scalableRef: { kind: "Deployment", name: "web" }, percentage: 50 };

test("L-208, L-210, L-222, L-261: room for half of a Deployment becomes a node, and then fits", async () => {
  const world = createWorld();
  putPool(world);
  putDeployment(world, 6);
  putBuffer(world, scalable);
  const { controller } = world.start({ options });
  await world.until("resolved", () => condition(world, "ReadyForProvisioning")?.[0] === "True", 1000);
  expect(status(world)).toMatchObject({ replicas: 3 });
  await world.until("a NodeClaim", () => world.claims().length === 1, 5000);
  expect(condition(world, "Provisioning")).toEqual(["False", "RequiresNewCapacity"]);
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True", MINUTE_MS);
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.claims()).toHaveLength(1);
  // L-52, L-261: no node is kept for pods that do not exist, and nobody is told about them.
  const { cluster } = controller;
  expect([...cluster!.nodes()].map(({ key }) => cluster!.isNominated(key))).toEqual([false]);
  expect(world.events().filter(({ involvedObject: { name } }) => name.startsWith("capacity-buffer"))).toEqual([]);
});

test("L-206: whatever strategy a buffer names is shown, and its room is made", async () => {
  const world = createWorld();
  putPool(world);
  putDeployment(world, 2);
  putBuffer(world, { ...scalable, provisioningStrategy: "example.com/whenever" });
  world.start({ options });
  await world.until("a node", () => world.claims().some(isReady));
  expect(status(world)).toMatchObject({ provisioningStrategy: "example.com/whenever", replicas: 1 });
});

test("L-208: a PodTemplate's name and generation stand in the status, and go with the reference", async () => {
  const world = createWorld();
  putPool(world);
  putTemplate(world);
  putDeployment(world, 2);
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 2 });
  world.start({ options });
  await world.until("resolved", () => condition(world, "ReadyForProvisioning")?.[0] === "True", 1000);
  expect(status(world)).toMatchObject({ podTemplateRef: { name: "room" }, podTemplateGeneration: 1, replicas: 2 });
  putBuffer(world, { podTemplateRef: null, replicas: null, ...scalable });
  await world.until("the other", () => status(world)?.replicas === 1, 1000);
  expect(status(world)).not.toHaveProperty("podTemplateRef");
  expect(status(world)).not.toHaveProperty("podTemplateGeneration");
});

test.each([
  { what: "no PodTemplate of that name", spec: { podTemplateRef: { name: "none" }, replicas: 1 }, reason: "PodTemplateNotFound" },
  { what: "no Deployment of that name", spec: { scalableRef: { kind: "Deployment", name: "none" } }, reason: "ScalableRefNotFound" },
  { what: "no reference", spec: { replicas: 1 }, reason: "ResolutionFailed" },
  { what: "a Job", spec: { scalableRef: { kind: "Job", apiGroup: "batch", name: "x" } }, reason: "ResolutionFailed", isError: true },
])("L-207, L-209: $what: $reason", async ({ spec, reason, isError = false }) => {
  const world = createWorld();
  putPool(world);
  putBuffer(world, spec);
  world.start({ options });
  await world.until("told", () => condition(world, "ReadyForProvisioning") !== undefined, 1000);
  expect(condition(world, "ReadyForProvisioning")).toEqual(["False", reason]);
  // V-90: the provisioner has looked at it too, unless there was an error.
  await world.clock.advance(15_000);
  expect(condition(world, "Provisioning")).toEqual(isError ? undefined : ["False", "NotReadyForProvisioning"]);
  expect(world.claims()).toEqual([]);
});

test("L-222: a buffer is told about also while another pod waits in vain and nothing is solved", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "huge", "1000");
  world.start({ options });
  await world.clock.advance(2 * MINUTE_MS);
  putBuffer(world, { podTemplateRef: { name: "none" }, replicas: 1 });
  await world.clock.advance(15_000);
  expect(condition(world, "Provisioning")).toEqual(["False", "NotReadyForProvisioning"]);
});

test("L-209: an API server that cannot be asked is told, and asked again; the room stays", async () => {
  const world = createWorld();
  let isDown = true;
  world.api.faults.before = ({ path }) =>
    path === DEPLOYMENT && isDown ? { status: 500, body: { code: 500, reason: "InternalError", message: "not now" } } : undefined;
  putPool(world);
  putDeployment(world, 4);
  putBuffer(world, scalable);
  world.start({ options });
  await world.until("told", () => condition(world, "ReadyForProvisioning")?.[1] === "ResolutionFailed", 1000);
  isDown = false;
  await world.until("resolved", () => condition(world, "ReadyForProvisioning")?.[0] === "True", MINUTE_MS);
  await world.until("a NodeClaim", () => world.claims().length === 1);
});

test("V-92: a workload that is scaled is seen at once; one that only reports is not asked for", async () => {
  const world = createWorld();
  putPool(world);
  putDeployment(world, 2);
  putBuffer(world, scalable);
  world.start({ options });
  await world.until("resolved", () => status(world)?.replicas === 1, 1000);
  await world.clock.advance(5000);
  let asked = 0;
  world.api.faults.before = ({ path }) => void (path === DEPLOYMENT && asked++);
  world.api.put(DEPLOYMENT, { status: { readyReplicas: 2 } });
  await world.clock.advance(1000);
  expect(asked).toBe(0);
  putDeployment(world, 8);
  await world.until("resolved", () => status(world)?.replicas === 4, 1000);
});

test("scenario 50, L-217, V-90: without its PodTemplate the room is given up; without the buffer too", async () => {
  const world = createWorld();
  putPool(world);
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 1 });
  world.start({ options });
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True");
  world.api.remove(TEMPLATE);
  await world.until("told", () => condition(world, "ReadyForProvisioning")?.[1] === "PodTemplateNotFound", 1000);
  // Its room can be had by a pod that exists, without another node.
  putPendingPod(world, "a", "3");
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toHaveLength(1);
});

test("L-221: pods that exist take the room, and it is made anew", async () => {
  const world = createWorld();
  putPool(world);
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 1 });
  world.start({ options });
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True");
  putPendingPod(world, "a", "3");
  await world.until("another", () => world.claims().length === 2, 5000);
  await world.until("Ready", () => world.claims().every(isReady));
  bindPod(world, "a", world.claims()[0]!.status!.nodeName!);
  await world.until("fits again", () => condition(world, "Provisioning")?.[0] === "True", MINUTE_MS);
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims()).toHaveLength(2);
});

test("L-216: a node that goes takes its room along, and it is made anew", async () => {
  const world = createWorld();
  putPool(world);
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 1 });
  world.start({ options });
  await world.until("Ready", () => world.claims().some(isReady));
  const [first] = world.claims();
  world.api.remove(`${NODE_CLAIMS}/${first!.metadata!.name}`);
  await world.until("another", () => world.claims().some(({ metadata }) => metadata!.uid !== first!.metadata!.uid), MINUTE_MS);
});

test("scenario 51: buffers are told apart by name and namespace", async () => {
  const { world } = await createWorldWithNode(["a"], {}, { options });
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 3 });
  const other = BUFFERS.replace("/default/", "/other/");
  world.api.put(TEMPLATE.replace("/default/", "/other/"), { template: { spec: containers("100m") } });
  world.api.put(`${other}/room`, { spec: { podTemplateRef: { name: "room" }, replicas: 2 } });
  const conditionOf = (path: string) =>
    world.api.find<CapacityBuffer>(path)?.status?.conditions?.find(({ type }) => type === "Provisioning")?.message;
  await world.until("told", () => conditionOf(`${other}/room`) !== undefined && conditionOf(`${BUFFERS}/room`) !== undefined);
  expect(conditionOf(`${BUFFERS}/room`)).toBe("2/3 virtual pods required new capacity, 0 failed");
  expect(conditionOf(`${other}/room`)).toBe("2/2 virtual pods fit existing capacity");
});

test("L-215, L-223: what cannot be written about a buffer keeps no plan from being made, and is written later", async () => {
  const world = createWorld();
  let refused = 0;
  world.api.faults.before = ({ method, path }) => {
    if (method !== "PATCH" || !path.startsWith(BUFFERS) || refused++ >= 6) return undefined;
    return refused % 2 === 0
      ? { status: 409, body: { code: 409, reason: "Conflict", message: "changed" } }
      : { status: 500, body: { code: 500, reason: "InternalError", message: "not now" } };
  };
  putPool(world);
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 1 });
  putPendingPod(world, "a");
  world.start({ options });
  await world.until("a NodeClaim for the pod", () => world.claims().length > 0, 5000);
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True");
  expect(refused).toBeGreaterThanOrEqual(6);
});

test("L-220: a new leader plans for the room that its predecessor found, and makes no second one", async () => {
  const world = createWorld();
  putPool(world);
  putTemplate(world, "3");
  putBuffer(world, { podTemplateRef: { name: "room" }, replicas: 2 });
  const first = world.start({ options });
  await world.until("two", () => world.claims().length === 2);
  await first.kill();
  const { controller } = world.start({ options });
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True");
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims()).toHaveLength(2);
  expect(await controller.registry.metrics()).toMatch(/operator_capacitybuffer_status_condition_count{[^}]*name="room"/);
});

test("a quiet day with a buffer asks for nothing and solves nothing", async () => {
  const world = createWorld();
  putPool(world);
  putDeployment(world, 2);
  putBuffer(world, scalable);
  const { controller } = world.start({ options });
  await world.until("fits", () => condition(world, "Provisioning")?.[0] === "True");
  await world.clock.advance(15 * MINUTE_MS);
  const requests: string[] = [];
  world.api.faults.before = ({ path }) => void requests.push(path);
  const solves = async () => /scheduler_scheduling_duration_seconds_count{[^}]*} (\d+)/.exec(await controller.registry.metrics())?.[1];
  const before = await solves();
  await world.clock.advance(24 * 60 * MINUTE_MS);
  expect(requests).toEqual(Array(24).fill("/version")); // O-70, whatever else there is
  expect(await solves()).toBe(before);
});

test("gate off: buffers are not looked at", async () => {
  const world = createWorld();
  putPool(world);
  putDeployment(world, 2);
  putBuffer(world, scalable);
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect([status(world), world.claims().length]).toEqual([undefined, 0]);
});
