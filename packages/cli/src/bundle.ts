/** Entry of the bundle that images and published packages run; a clone starts through `bin/joinery.mjs`. */
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { haveRoomForNewObjects } from "./controller/young-generation.ts";

const args = process.argv.slice(2);
if (args[0] === "controller") haveRoomForNewObjects();

// What the build compiled is taken by the Node that it ran with; any other compiles what it reads.
const compiled = join(import.meta.dirname, "compiled");
if (existsSync(compiled)) {
  process.env.NODE_COMPILE_CACHE_PORTABLE = "1"; // wherever the bundle has been moved; as an option only from Node 24.12 on
  enableCompileCache(compiled);
  delete process.env.NODE_COMPILE_CACHE_PORTABLE;
}
const { main } = await import("./main.ts");
await main(args);
