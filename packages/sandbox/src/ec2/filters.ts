/** EC2's filters and pages: values of one filter are alternatives, filters are conjunctive, `*` and `?` are wildcards. */
import { AwsError, type Filter, type PageRequest, type Tag } from "@joinery/aws";
import { matchesWildcard } from "../wildcard.ts";

/** What a resource answers to a filter's name; undefined = not a filter of it. */
export type FilterFields<T> = (item: T, name: string) => readonly string[] | undefined;

export function applyFilters<T extends { readonly Tags?: readonly Tag[] }>(
  items: Iterable<T>,
  filters: readonly Filter[] = [],
  fields: FilterFields<T>,
): T[] {
  return [...items].filter((item) => filters.every((filter) => matches(item, filter, fields)));
}

function matches<T extends { readonly Tags?: readonly Tag[] }>(item: T, { Name, Values }: Filter, fields: FilterFields<T>): boolean {
  const actual = tagValues(item.Tags ?? [], Name) ?? fields(item, Name);
  if (actual === undefined) throw new AwsError("InvalidParameterValue", `The filter '${Name}' is invalid`);
  return Values.some((value) => actual.some((text) => matchesWildcard(value, text)));
}

function tagValues(tags: readonly Tag[], name: string): readonly string[] | undefined {
  if (name === "tag-key") return tags.map(({ Key }) => Key);
  if (!name.startsWith("tag:")) return undefined;
  return tags.filter(({ Key }) => Key === name.slice("tag:".length)).map(({ Value }) => Value);
}

/** One page of a list, and the token of the next. */
export function pageOf<T>(
  items: readonly T[],
  { MaxResults, NextToken }: PageRequest,
): { readonly items: readonly T[]; readonly NextToken?: string } {
  const start = NextToken === undefined ? 0 : Number(NextToken);
  if (!Number.isSafeInteger(start)) throw new AwsError("InvalidNextToken", `The token ${NextToken} is invalid`);
  const end = start + (MaxResults ?? Math.max(items.length, 1));
  return { items: items.slice(start, end), ...(end < items.length ? { NextToken: String(end) } : {}) };
}
