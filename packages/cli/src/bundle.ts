/** Entry of the bundle that images and published packages run; a clone starts through `bin/joinery.mjs`. */
import { main } from "./main.ts";

await main(process.argv.slice(2));
