/** The input of `plan`, `explain` and `lint`: files, a cluster, or files over a cluster. */
import { NodePools } from "@joinery/api";
import { ApiError, type Clock, isUnauthorized } from "@joinery/kube";
import { CommandError, exitStatus } from "../exit-status.ts";
import { type Loaded, loadManifests } from "../manifests/load.ts";
import { formatProblem } from "../manifests/problem.ts";
import { requireSound } from "../manifests/require-sound.ts";
import type { Surroundings } from "../surroundings.ts";
import { createProgressLine } from "../terminal/progress-line.ts";
import { type Connection, connectLive, isLive, type LiveFlags } from "./connect.ts";
import { layer } from "./layer.ts";
import type { LiveWants } from "./live-kinds.ts";
import { type ClusterReading, type Gap, readCluster } from "./read-cluster.ts";

export interface Input {
  readonly loaded: Loaded;
  /** What was read from a cluster, a line each, for people; empty without one. */
  readonly notes: readonly string[];
}

/** Objects of which a line is said, before they are only counted. */
const SHOWN_MAX = 5;

/** Throws `CommandError` where files are wrong, and where the cluster cannot be asked or lacks what is essential. */
export async function readInput(
  names: readonly string[],
  flags: LiveFlags,
  { wants, clock }: { readonly wants: LiveWants; readonly clock: Clock },
  surroundings: Surroundings,
): Promise<Input> {
  if (names.length === 0 && !isLive(flags))
    throw new CommandError(
      "there is no input; name manifest files, folders or - for stdin, or a cluster with --live, --context NAME or --kubeconfig FILE",
      exitStatus.badInput,
    );
  const { err } = surroundings;
  const files = await loadManifests(names, surroundings.readStdin);
  requireSound(files, err);
  // What a pipe gives whose first command has failed.
  if (names.length > 0 && !files.hasDocuments)
    throw new CommandError(
      `there is no object in ${names.map(sourceName).join(", ")}; want Kubernetes objects as YAML or JSON`,
      exitStatus.badInput,
    );
  if (!isLive(flags) && isEmpty(files))
    err.write(`${err.style("yellow", "warning:")} there is no object in the input, only an empty List\n`);
  if (!isLive(flags)) return { loaded: files, notes: [] };
  const connection = await connectLive(flags, surroundings, clock);
  try {
    const reading = await read(connection, wants, clock, surroundings);
    requireEssentials(reading, files, connection.name);
    return layered(reading, files, connection, surroundings);
  } finally {
    await connection.close();
  }
}

/** What kubectl gives where nothing matches. */
function isEmpty({ manifests, ignoredKinds }: Loaded): boolean {
  return manifests.length === 0 && ignoredKinds.size === 0;
}

function sourceName(name: string): string {
  return name === "-" ? "standard input" : name;
}

async function read({ client, name }: Connection, wants: LiveWants, clock: Clock, { err }: Surroundings): Promise<ClusterReading> {
  const progress = createProgressLine(err);
  progress.show(`Reading the cluster ${name} …`);
  try {
    return await readCluster({
      client,
      clock,
      wants,
      onProgress: ({ resource }, count, total) =>
        progress.show(`Reading the cluster ${name}: ${count}${total === undefined ? "" : ` of ${total}`} ${resource} …`),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (isUnauthorized(error))
      throw new CommandError(`cluster ${name}: it does not accept this login (${message}); log in again`, exitStatus.badInput);
    const status = error instanceof ApiError && error.status < 500 ? exitStatus.badInput : exitStatus.fault;
    throw new CommandError(`cluster ${name}: ${message}`, status);
  } finally {
    progress.clear();
  }
}

function requireEssentials({ gaps }: ClusterReading, files: Loaded, cluster: string): void {
  const essential = gaps.filter(({ role }) => role === "essential");
  const forbidden = essential.filter(({ why }) => why === "forbidden");
  if (forbidden.length > 0)
    throw new CommandError(
      `cluster ${cluster}: you may not list ${kindsText(forbidden)} in all namespaces, and without them there is no answer (${forbidden[0]!.message}); ask for the ClusterRole of docs/live.md`,
      exitStatus.badInput,
    );
  const hasPools = files.manifests.some(({ object }) => object.kind === NodePools.kind);
  if (!hasPools && essential.some(({ kind }) => kind === NodePools))
    throw new CommandError(
      `cluster ${cluster}: it does not serve nodepools of karpenter.sh/v1; install the definitions (joinery crds | kubectl apply --server-side -f -), or give the NodePools to try as files`,
      exitStatus.badInput,
    );
}

function layered(reading: ClusterReading, files: Loaded, { name, namespace }: Connection, { err }: Surroundings): Input {
  const { manifests, changed, added } = layer(reading.manifests, files.manifests, namespace);
  const warn = (text: string) => err.write(`${err.style("yellow", "warning:")} ${text}\n`);
  const gaps = gapNotes(reading.gaps);
  for (const gap of gaps) warn(`cluster ${name}: ${gap}`);
  for (const problem of reading.leftOut.slice(0, SHOWN_MAX)) warn(`${formatProblem(problem)}; the object is left out`);
  const more = reading.leftOut.length - SHOWN_MAX;
  if (more > 0) warn(`${more} more objects of the cluster are left out`);
  const counts = [...reading.counts].filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  return {
    loaded: { ...files, manifests, wholeKinds: new Set(reading.counts.keys()) },
    notes: [
      `Cluster ${name}: ${counts.length === 0 ? "it has no objects of the kinds that count" : counts.join(", ")}`,
      ...gaps.map((gap) => `Not read from the cluster: ${gap}`),
      ...(reading.leftOut.length > 0 ? [`Left out of the cluster's objects: ${reading.leftOut.length} that cannot be read`] : []),
      ...(changed.length > 0 ? [`In place of the cluster's, from files: ${shortList(changed)}`] : []),
      ...(added.length > 0 ? [`Beside the cluster's, from files: ${shortList(added)}`] : []),
    ],
  };
}

/** Extensions that a cluster does not have are nothing to speak of. */
function gapNotes(gaps: readonly Gap[]): readonly string[] {
  const forbidden = gaps.filter(({ why }) => why === "forbidden");
  const absent = gaps.filter(({ why, role }) => why === "absent" && role === "useful");
  return [
    ...(forbidden.length > 0 ? [`you may not list ${kindsText(forbidden)}; what they would say is not known here`] : []),
    ...(absent.length > 0 ? [`it does not serve ${kindsText(absent)}`] : []),
  ];
}

function kindsText(gaps: readonly Gap[]): string {
  return gaps.map(({ kind: { resource, group } }) => (group === "" ? resource : `${resource}.${group}`)).join(", ");
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).join(", ");
  return names.length > SHOWN_MAX ? `${shown} and ${names.length - SHOWN_MAX} more` : shown;
}
