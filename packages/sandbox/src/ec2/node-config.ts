/** What a machine reads from its user data: the NodeConfig parts of a MIME document (section 14.2 of the instance type chapter). */
import type { Taint } from "@joinery/api";

export interface NodeConfig {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods?: number;
}

interface NodeConfigDocument {
  readonly spec?: {
    readonly kubelet?: {
      readonly flags?: readonly string[];
      readonly config?: { readonly maxPods?: number; readonly registerWithTaints?: readonly Taint[] };
    };
  };
}

const LABELS_FLAG = "--node-labels=";

/** Later parts win, as on the real machine. Parts that are no NodeConfig, and user data that is no MIME, say nothing. */
export function readNodeConfig(userData: string): NodeConfig {
  const text = Buffer.from(userData, "base64").toString("utf8");
  const boundary = /boundary="?([^"\s;]+)/.exec(text)?.[1];
  if (boundary === undefined) return { labels: {}, taints: [] };
  const parts = text.split(`--${boundary}`).filter((part) => part.includes("application/node.eks.aws"));
  const configs = parts.map(readPart);
  return Object.assign({ taints: [] }, ...configs, { labels: Object.assign({}, ...configs.map(({ labels }) => labels)) }) as NodeConfig;
}

/** The body is YAML; ours is the JSON that every YAML parser reads, below a comment. */
function readPart(part: string): NodeConfig {
  const body = part.slice(part.indexOf("{"), part.lastIndexOf("}") + 1);
  const { flags = [], config } = (JSON.parse(body) as NodeConfigDocument).spec?.kubelet ?? {};
  const pairs = flags.filter((flag) => flag.startsWith(LABELS_FLAG)).flatMap((flag) => flag.slice(LABELS_FLAG.length).split(","));
  return {
    labels: Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])),
    taints: config?.registerWithTaints ?? [],
    ...(config?.maxPods === undefined ? {} : { maxPods: config.maxPods }),
  };
}
