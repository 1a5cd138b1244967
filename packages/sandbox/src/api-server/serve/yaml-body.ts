/** Bodies in YAML, as server-side apply and some clients send them: YAML 1.1 as Go reads it, without dates and base-60 numbers. */
import { parse, type Tags } from "yaml";
import { badRequest } from "../wire/status.ts";

/** Throws 400 for what is no YAML. JSON is YAML too. */
export function parseYaml(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parse(text, { version: "1.1", customTags: withoutTimes, prettyErrors: false, logLevel: "error", maxAliasCount: 1000 });
  } catch (error) {
    throw badRequest(`the request's body is no YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || (tag.tag !== "tag:yaml.org,2002:timestamp" && tag.format !== "TIME"));
}
