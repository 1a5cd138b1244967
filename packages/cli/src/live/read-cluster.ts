/** The objects of a cluster as manifests, and what of them could not be read. Read rights are enough; nothing is written. */
import { apiVersionOf, type Kind, type KubeObject } from "@joinery/api";
import { type Clock, isForbidden, isNotFound, type KubeClient } from "@joinery/kube";
import { checkManifest } from "../manifests/check-manifest.ts";
import type { Manifest, RawObject } from "../manifests/manifest.ts";
import type { InputProblem } from "../manifests/problem.ts";
import { listKind } from "./list-kind.ts";
import { LIVE_KINDS, type LiveKind, type LiveWants } from "./live-kinds.ts";
import { createTrim, type Trim } from "./trim-object.ts";

export interface ClusterReading {
  /** In the order of `LIVE_KINDS`, and within a kind as the server lists them. */
  readonly manifests: readonly Manifest[];
  /** Kinds that could not be read. */
  readonly gaps: readonly Gap[];
  /** Kind → number of objects. */
  readonly counts: ReadonlyMap<string, number>;
  /** What is wrong with objects that were left out: they passed the server's admission, but not what is expected here. */
  readonly leftOut: readonly InputProblem[];
}

export interface Gap {
  readonly kind: Kind;
  readonly role: LiveKind["role"];
  /** `absent`: the cluster does not have the kind (404). `forbidden`: the reader may not list it (403). */
  readonly why: "absent" | "forbidden";
  /** The server's words. */
  readonly message: string;
}

export interface ReadClusterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly wants: LiveWants;
  /** `total`: an estimate, undefined where the server gives none. */
  readonly onProgress: (kind: Kind, count: number, total: number | undefined) => void;
}

/** Lists under way at a time. The server's fairness gives one client about as many seats. */
const LISTS_MAX = 4;

/** Errors other than a kind that is absent or forbidden are thrown as they are. */
export async function readCluster({ client, clock, wants, onProgress }: ReadClusterOptions): Promise<ClusterReading> {
  const kinds = LIVE_KINDS.filter(({ isWanted }) => isWanted(wants));
  const trim = createTrim();
  const outcomes = await inTurn(kinds, LISTS_MAX, (kind) => readKind(kind, { client, clock, trim, onProgress }));
  const readings = outcomes.filter((outcome) => outcome.type === "read");
  return {
    manifests: readings.flatMap(({ manifests }) => manifests),
    gaps: outcomes.flatMap((outcome) => (outcome.type === "gap" ? [outcome.gap] : [])),
    counts: new Map(readings.map(({ kind, manifests }) => [kind.kind, manifests.length])),
    leftOut: readings.flatMap(({ leftOut }) => leftOut),
  };
}

type Outcome =
  | { readonly type: "gap"; readonly gap: Gap }
  | { readonly type: "read"; readonly kind: Kind; readonly manifests: readonly Manifest[]; readonly leftOut: readonly InputProblem[] };

interface KindRooms extends Pick<ReadClusterOptions, "client" | "clock" | "onProgress"> {
  readonly trim: Trim;
}

async function readKind({ kind, role }: LiveKind, { client, clock, trim, onProgress }: KindRooms): Promise<Outcome> {
  let manifests: Manifest[] = [];
  let leftOut: InputProblem[] = [];
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  try {
    await listKind(kind, {
      client,
      clock,
      // Items of a list come without their kind.
      keep: (object) => {
        const manifest = liveManifest(trim({ ...object, ...type }));
        const fault = faultOf(manifest);
        if (fault === undefined) manifests.push(manifest);
        else leftOut.push(fault);
      },
      restart: () => {
        manifests = [];
        leftOut = [];
      },
      onPage: (_, remaining) => {
        const count = manifests.length + leftOut.length;
        onProgress(kind, count, remaining === undefined ? undefined : count + remaining);
      },
    });
  } catch (error) {
    const why = isNotFound(error) ? "absent" : isForbidden(error) ? "forbidden" : undefined;
    if (why === undefined) throw error;
    return { type: "gap", gap: { kind, role, why, message: (error as Error).message } };
  }
  return { type: "read", kind, manifests, leftOut };
}

/** `cluster:Kind/name`, with the namespace before the name: where other manifests have file and line. */
function placeOf({ kind, metadata }: KubeObject): string {
  return `cluster:${[kind, metadata?.namespace, metadata?.name].filter((part) => part !== undefined && part !== "").join("/")}`;
}

export function liveManifest(object: KubeObject): Manifest {
  return { object: object as RawObject, file: placeOf(object), locate: nowhere };
}

function nowhere(): undefined {
  return undefined;
}

/** Fields that this version does not know are the server's business: it may be newer. */
function faultOf(manifest: Manifest): InputProblem | undefined {
  const verdict = checkManifest(manifest);
  return verdict.kind === "known" ? verdict.problems.find(({ severity }) => severity === "error") : undefined;
}

/** The results in the order of the questions, with at most `most` under way. */
async function inTurn<Q, A>(questions: readonly Q[], most: number, ask: (question: Q) => Promise<A>): Promise<A[]> {
  const answers: A[] = new Array(questions.length);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < questions.length; at = next++) answers[at] = await ask(questions[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(most, questions.length) }, worker));
  return answers;
}
