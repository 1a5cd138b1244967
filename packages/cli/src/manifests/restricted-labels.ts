/** What to write instead of a label that pools may not set or ask for. Rules. */
import { AWS_VOCABULARY, HOSTNAME_LABEL, KWOK_GROUP, KWOK_VOCABULARY, LABEL_SUCCESSORS, NODE_POOL_LABEL } from "@joinery/api";
import { nearKey } from "@joinery/scheduling";
import { isRecord } from "./built-in/shapes.ts";

const MESSAGE = /label (domain )?"([^"]+)" is restricted$/;

/**
 * undefined where the message is about something else.
 * @param value what the message is about: a key, or a map of labels
 */
export function restrictedLabelAdvice(message: string, value: unknown): string | undefined {
  const [, isDomain, restricted = ""] = MESSAGE.exec(message) ?? [];
  if (restricted === "") return undefined;
  if (isDomain === undefined) return adviceFor(restricted);
  const keys = typeof value === "string" ? [value] : isRecord(value) ? Object.keys(value) : [];
  const guilty = keys.filter((key) => isUnder(key, restricted) && !labelsOf(restricted).has(key));
  const advice = guilty.map((key) => (typeof value === "string" ? adviceFor(key) : `${key}: ${adviceFor(key)}`));
  return advice.length === 0 ? undefined : advice.join("; ");
}

function adviceFor(key: string): string {
  if (key === HOSTNAME_LABEL) return "take it out: every node gets its own name as this label";
  if (key === NODE_POOL_LABEL || LABEL_SUCCESSORS[key] === NODE_POOL_LABEL)
    return `take it out: nodes get the name of their NodePool as ${NODE_POOL_LABEL}`;
  const domain = key.slice(0, key.indexOf("/"));
  const meant = nearKey(key, labelsOf(domain));
  if (meant !== undefined) return `did you mean ${meant}?`;
  return `only labels that come with instance types can be of this domain; for one of your own write for instance example.com/${key.slice(key.indexOf("/") + 1)}`;
}

/** Labels that types have, and that pools may ask for. */
function labelsOf(domain: string): ReadonlySet<string> {
  return domain.endsWith(KWOK_GROUP) ? KWOK_VOCABULARY.wellKnown : AWS_VOCABULARY.wellKnown;
}

/** The suffix is textual. */
function isUnder(key: string, domain: string): boolean {
  return key.split("/", 1)[0]!.endsWith(domain);
}
