/** The real control plane as processes on loopback: its programs, built where they are missing, started and stopped by the scripts here. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export interface ControlPlane {
  readonly kubeconfig: string;
  readonly url: string;
  /** PEM of what signs the API server's certificate. */
  readonly certificate: string;
  /** Of a user who may do everything. */
  readonly token: string;
  readonly pids: readonly number[];
  stop(): void;
}

/**
 * The folder with etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kwok. `KUBEBUILDER_ASSETS` names it; without it they are
 * built with Go into a cache outside the repository (about 12 minutes the first time).
 */
export function controlPlaneAssets(): string {
  const { KUBEBUILDER_ASSETS: named } = process.env;
  if (named !== undefined) return named;
  if (spawnSync("go", ["version"]).status !== 0) {
    throw new Error(
      "a control plane is needed: set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kwok, or install Go 1.26.8 or newer so that they can be built.",
    );
  }
  const build = spawnSync(join(import.meta.dirname, "build.sh"), [], { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  if (build.status !== 0) throw new Error(`the control plane cannot be built: build.sh ended with ${build.status ?? build.signal}`);
  return build.stdout.trim().split("\n").at(-1) ?? "";
}

export interface ControlPlaneOptions {
  readonly assets?: string;
  /** No scheduler, no controllers, no kubelets: objects stay as they are written. */
  readonly isApiOnly?: boolean;
  readonly controllerManagerFlags?: string;
}

/** Data, logs and process IDs go into `folder`; what an earlier start left there is taken up again. */
export async function startControlPlane(folder: string, options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { assets = controlPlaneAssets(), isApiOnly = false, controllerManagerFlags = "" } = options;
  const port = await freePorts(5);
  const env = {
    ...process.env,
    KUBEBUILDER_ASSETS: assets,
    KWOK: "1",
    PORT: String(port),
    ETCD_PORT: String(port + 3),
    API_ONLY: isApiOnly ? "1" : "",
    CONTROLLER_MANAGER_FLAGS: controllerManagerFlags,
  };
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const start = spawnSync(join(import.meta.dirname, "start.sh"), [folder], { env, stdio: [...stdio], encoding: "utf8" });
  const stop = () => void spawnSync(join(import.meta.dirname, "stop.sh"), [folder], { stdio: "inherit" });
  if (start.status !== 0) {
    stop();
    throw new Error(`the control plane did not start, its logs are in ${folder}`);
  }
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  return {
    kubeconfig: start.stdout.trim(),
    url: `https://127.0.0.1:${port}`,
    certificate: read("certs/apiserver.crt"),
    token: read("tokens.csv").split(",")[0] ?? "",
    pids: read("pids").trim().split("\n").map(Number),
    stop,
  };
}

/** First of `count` neighbouring free ports on loopback. */
async function freePorts(count: number): Promise<number> {
  for (let base = 20000 + (process.pid % 20000); ; base = base > 60000 ? 20000 : base + count) {
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(base + index)));
    if (free.every(Boolean)) return base;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
