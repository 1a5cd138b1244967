/**
 * What an explanation costs, the solve that it is about included: `node bench/scheduling/explain.ts --json [--pods N] [--types N]
 * [--corpus NAME] [--optimize off|default]`. Each subject in a process of its own, as `joinery explain` would be; reading manifests is
 * not in it. 500 equal pods without a place are added to the corpus.
 */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createExplainer, type Effort, improvementOf, type PodShape, type PodToPlace, type Problem } from "@joinery/scheduling";
import { CORPORA } from "./corpora.ts";

const EQUAL_PODS = 500;
const ZONE = "topology.kubernetes.io/zone";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    corpus: { type: "string", default: "diverse" },
    pods: { type: "string", default: "15000" },
    types: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    optimize: { type: "string", default: "off" },
    subject: { type: "string" },
  },
});

const REQUESTS = { cpu: 1000, memory: 2 ** 30, pods: 1 };
const BASE: PodShape = { namespace: "default", labels: { app: "asked" }, requests: REQUESTS, tolerations: [] };

/** Shapes of the pods that are asked for; undefined = one that has a place. */
const SUBJECTS: Readonly<Record<string, PodShape | undefined>> = {
  "misspelt-label": { ...BASE, nodeSelector: { "topology.kubernetes.io/zonne": "test-zone-1" } },
  "too-large": { ...BASE, requests: { ...REQUESTS, cpu: 10_000_000 } },
  "zone-spread": {
    ...BASE,
    topologySpreadConstraints: [
      { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: BASE.labels }, minDomains: 9 },
    ],
  },
  "nothing-helps": { ...BASE, nodeSelector: { team: "nobody", rack: "1" }, requests: { ...REQUESTS, "example.com/device": 1 } },
  placed: undefined,
};

if (options.subject === undefined) {
  for (const subject of Object.keys(SUBJECTS)) {
    const args = [import.meta.filename, ...process.argv.slice(2), "--subject", subject];
    spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  }
} else {
  await measure(options.subject);
}

async function measure(subject: string): Promise<void> {
  const size = { pods: Number(options.pods), types: Number(options.types), seed: Number(options.seed) };
  const shape = SUBJECTS[subject];
  const corpus = await CORPORA[options.corpus]!(size);
  const asked = shape === undefined ? [] : equalPods(shape);
  const improvement = improvementOf(options.optimize as Effort);
  const problem: Problem = {
    ...corpus,
    pods: [...corpus.pods, ...asked],
    options: { ...corpus.options, ...(improvement && { improvement }) },
  };
  const askedKeys = new Set(asked.map(({ key }) => key));
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  const explainer = createExplainer(problem);
  const unplaced = explainer.plan.unschedulable.find(({ pod }) => askedKeys.has(pod));
  const answer = explainer.pod(unplaced?.pod ?? corpus.pods[0]!.key);
  const milliseconds = performance.now() - startMs;
  const { user, system } = process.cpuUsage(startCpu);
  const metrics = {
    milliseconds: Math.round(milliseconds),
    cpuMilliseconds: Math.round((user + system) / 1000),
    edits: answer?.kind === "unschedulable" ? (answer.fix?.edits.length ?? 0) : 0,
    alike: answer?.kind === "unschedulable" ? answer.alike.length : 0,
  };
  const params = { corpus: options.corpus, ...size, optimize: options.optimize };
  const machine = `${cpus()[0]?.model.split(" ").slice(0, 2).join(" ")} x${cpus().length}, Node ${process.versions.node}`;
  const line = { name: `explain/${subject}`, params, metrics, machine };
  process.stdout.write(
    options.json ? `${JSON.stringify(line)}\n` : `${line.name}: ${metrics.milliseconds} ms, ${metrics.cpuMilliseconds} ms of CPU\n`,
  );
}

function equalPods(shape: PodShape): PodToPlace[] {
  return Array.from({ length: EQUAL_PODS }, (_, index) => ({
    key: `default/asked-${index}`,
    uid: `asked-${index}`,
    createdAtMs: 0,
    shape,
  }));
}
