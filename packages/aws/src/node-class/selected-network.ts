/** Subnets and security groups that a node class selects. Rules W-330…W-332, W-213, W-214. */
import type { Ec2NodeClassSpec, Ec2NodeClassStatus } from "@joinery/api";
import { compareTexts } from "@joinery/scheduling";
import type { Ec2Port, Filter, SecurityGroup, Subnet } from "../ec2/ec2-port.ts";
import { allPages } from "../ec2/pages.ts";

const PAGE = 500;

/** Sorted by free addresses, most first, then by ID. */
export async function selectSubnets(ec2: Ec2Port, terms: Ec2NodeClassSpec["subnetSelectorTerms"], signal?: AbortSignal): Promise<Subnet[]> {
  const queries = [...idQuery("subnet-id", terms), ...tagQueries(terms)];
  const ask = (Filters: readonly Filter[]) =>
    allPages(
      (token) => ec2.describeSubnets({ Filters, MaxResults: PAGE, ...token }, signal),
      ({ Subnets }) => Subnets,
    );
  const subnets = uniqueBy((await Promise.all(queries.map(ask))).flat(), ({ SubnetId }) => SubnetId);
  return subnets.sort((a, b) => b.AvailableIpAddressCount - a.AvailableIpAddressCount || compareTexts(a.SubnetId, b.SubnetId));
}

/** Sorted by ID. */
export async function selectSecurityGroups(
  ec2: Ec2Port,
  terms: Ec2NodeClassSpec["securityGroupSelectorTerms"],
  signal?: AbortSignal,
): Promise<SecurityGroup[]> {
  const names = terms.flatMap(({ id, name }) => (id === undefined && name !== undefined ? [name] : []));
  const byName = names.length > 0 ? [[{ Name: "group-name", Values: names }]] : [];
  const queries = [...idQuery("group-id", terms), ...byName, ...tagQueries(terms.filter(({ name }) => name === undefined))];
  const ask = (Filters: readonly Filter[]) =>
    allPages(
      (token) => ec2.describeSecurityGroups({ Filters, MaxResults: PAGE, ...token }, signal),
      ({ SecurityGroups }) => SecurityGroups,
    );
  const groups = uniqueBy((await Promise.all(queries.map(ask))).flat(), ({ GroupId }) => GroupId);
  return groups.sort((a, b) => compareTexts(a.GroupId, b.GroupId));
}

export function subnetStatus(subnets: readonly Subnet[]): NonNullable<Ec2NodeClassStatus["subnets"]> {
  return subnets.map(({ SubnetId, AvailabilityZone, AvailabilityZoneId }) => ({
    id: SubnetId,
    zone: AvailabilityZone,
    zoneID: AvailabilityZoneId,
  }));
}

export function securityGroupStatus(groups: readonly SecurityGroup[]): NonNullable<Ec2NodeClassStatus["securityGroups"]> {
  return groups.map(({ GroupId, GroupName }) => ({ id: GroupId, name: GroupName }));
}

interface Term {
  readonly id?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** All IDs in one question. */
function idQuery(Name: string, terms: readonly Term[]): Filter[][] {
  const ids = terms.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return ids.length > 0 ? [[{ Name, Values: ids }]] : [];
}

/** A question per term; its tags must all be there, with any value where the term says `*`. */
function tagQueries(terms: readonly Term[]): Filter[][] {
  return terms.filter(({ id, tags }) => id === undefined && tags !== undefined).map(({ tags = {} }) => tagFilters(tags));
}

export function tagFilters(tags: Readonly<Record<string, string>>): Filter[] {
  return Object.entries(tags).map(([key, value]) =>
    value === "*" ? { Name: "tag-key", Values: [key] } : { Name: `tag:${key}`, Values: [value] },
  );
}

function uniqueBy<T>(items: readonly T[], idOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [idOf(item), item])).values()];
}
