/** The API server in memory does what an API server must do. */
import { createRandom, createVirtualClock } from "@joinery/kube";
import { createApiServer } from "./api-server.ts";
import { describeApiServer } from "./conformance/suite.test-support.ts";
import { describeWatches } from "./conformance/watches.test-support.ts";

const surroundings = { clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) };
const server = createApiServer(surroundings);
const forgetful = createApiServer({ ...surroundings, watchWindow: 16 });

describeApiServer("in memory", "case", () => server.transport("suite"));
describeWatches("in memory", "case", () => forgetful.transport("suite"));
