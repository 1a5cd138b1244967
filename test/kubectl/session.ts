/** A sandbox cluster over HTTPS and the real kubectl to talk to it. Time runs faster, so that grace periods do not keep the suite waiting. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crdOf, Nodes, OWNED_KINDS } from "@joinery/api";
import { anchorNow, createRandom, createScaledClock, type KubeClient } from "@joinery/kube";
import { createWorld } from "@joinery/sandbox";
import { fetchKubectl } from "./fetch-kubectl.ts";

const speed = 10;

export interface Answer {
  readonly code: number;
  /** With spans of time replaced by AGE, so that they can be compared. */
  readonly out: string;
  readonly err: string;
}

export interface Session {
  readonly folder: string;
  readonly user: KubeClient;
  kubectl(command: string, options?: { readonly stdin?: string; readonly editor?: string }): Promise<Answer>;
  /** Writes a manifest; gives its path. */
  file(name: string, text: string): string;
  close(): Promise<void>;
}

export async function openSession(): Promise<Session> {
  const binary = fetchKubectl();
  const folder = mkdtempSync(join(tmpdir(), "joinery-session-"));
  const world = createWorld({ clock: createScaledClock({ speed, anchor: anchorNow() }), random: createRandom(1) });
  await world.ready;
  const served = await world.apiServer.serve({ port: 0 });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, served.kubeconfig());
  const user = world.client("session");
  for (const name of ["node-a", "node-b"]) await user.create(Nodes, aNode(name));
  const kubectl: Session["kubectl"] = (command, { stdin = "", editor } = {}) =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig, KUBE_EDITOR: editor ?? "false" };
      const child = execFile(binary, words(command), { env, timeout: 30_000 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, out: withoutAges(stdout), err: stderr });
      });
      child.stdin?.end(stdin);
    });
  return {
    folder,
    user,
    kubectl,
    file: (name, text) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    close: async () => {
      await served.close();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The manifests of our own kinds, as one list. */
export function ownDefinitions(): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: OWNED_KINDS.map((owned) => crdOf(owned)) });
}

/** Splits at blanks outside single quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S*)'([^']*)'|(\S+)/g)].map(
    ([, quoted, head, tail, plain]) => quoted ?? plain ?? `${head}${tail}`,
  );
}

function withoutAges(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/(?<=\s)(\d+[smhd])+(?=\s|$)/g, "AGE")
        .replace(/ {2,}/g, "  ")
        .trimEnd(),
    )
    .join("\n");
}

function aNode(name: string) {
  const capacity = { cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux" },
      // A node without machine, for which the sandbox's kubelets act.
      annotations: { "kwok.x-k8s.io/node": "fake" },
    },
    status: { capacity, allocatable: capacity },
  };
}
