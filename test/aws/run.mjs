// Runs the suites that need an EC2 that we did not write: the moto server, from PyPI, in a virtual environment in a cache outside the repository.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { runVitest } from "../run-vitest.mjs";

const MOTO = "moto[server]==5.2.5";
const venv = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "joinery", "moto", MOTO.replace(/[^\w.]/g, "-"));
const server = join(venv, "bin", "moto_server");

if (!existsSync(join(venv, "complete"))) {
  must("python3", ["-m", "venv", "--clear", venv]);
  must(join(venv, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", MOTO]);
  must("touch", [join(venv, "complete")]);
}

const port = await freePort();
const moto = spawn(server, ["-H", "127.0.0.1", "-p", String(port)], { stdio: ["ignore", "ignore", "ignore"] });
let status = 1;
try {
  const endpoint = `http://127.0.0.1:${port}`;
  await ready(endpoint);
  status = await runVitest("test/aws/vitest.config.ts", {
    ...process.env,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  });
} finally {
  moto.kill();
}
process.exit(status);

function must(command, args) {
  const done = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (done.error?.code === "ENOENT") console.error(`test:aws needs ${command} (Python 3 with venv)`);
  if (done.status !== 0) process.exit(done.status ?? 1);
}

async function ready(endpoint) {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (moto.exitCode !== null) throw new Error(`moto_server ended with code ${moto.exitCode}`);
    const answer = await fetch(`${endpoint}/moto-api/data.json`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("moto_server did not come up within a minute");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
