/** Images that a node class selects, each with the nodes that it is for. Rules I-1202…I-1217. */
import { ARCH_LABEL, type Ec2NodeClassSpec, type Ec2NodeClassStatus, type NodeSelectorRequirement } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import { hasAwsCode } from "../ec2/aws-error.ts";
import type { Ec2Port, Image, PageRequest } from "../ec2/ec2-port.ts";
import { allPages } from "../ec2/pages.ts";
import { type Alias, aliasParameters, isUnsupported, parseAlias, variantRequirements } from "./image-aliases.ts";
import { tagFilters } from "./selected-network.ts";

type SelectedImages = NonNullable<Ec2NodeClassStatus["amis"]>;
type Terms = Ec2NodeClassSpec["amiSelectorTerms"];

export type ImageOutcome =
  | { readonly kind: "found"; readonly images: SelectedImages }
  | { readonly kind: "none" }
  | { readonly kind: "unsupported-alias"; readonly message: string };

interface Query {
  readonly request: PageRequest & { readonly Owners?: readonly string[] };
  /** Image ID → what is known of it beside its architecture; images that are not in it have nothing. */
  readonly known?: ReadonlyMap<string, readonly (readonly NodeSelectorRequirement[])[]>;
}

interface Candidate {
  readonly image: Image;
  readonly requirements: readonly NodeSelectorRequirement[];
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", arm64: "arm64" };
const ALIAS_LIFETIME_MS = 86_400_000;
const PARAMETER_LIFETIME_MS = 300_000;

export interface ImageResolverOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
}

export class ImageResolver {
  readonly #ec2: Ec2Port;
  readonly #clock: Clock;
  readonly #parameters = new Map<string, { readonly value: string; readonly endMs: number }>();

  constructor({ ec2, clock }: ImageResolverOptions) {
    this.#ec2 = ec2;
    this.#clock = clock;
  }

  async resolve(terms: Terms, kubernetesVersion: string, signal?: AbortSignal): Promise<ImageOutcome> {
    const aliasText = terms.find(({ alias }) => alias !== undefined)?.alias;
    const alias = aliasText === undefined ? undefined : parseAlias(aliasText);
    if (aliasText !== undefined && (alias === undefined || isUnsupported(alias, kubernetesVersion))) {
      return { kind: "unsupported-alias", message: `AMI alias "${aliasText}" is not supported on Kubernetes ${kubernetesVersion}` };
    }
    const queries =
      alias === undefined ? await this.#termQueries(terms, signal) : [await this.#aliasQuery(alias, kubernetesVersion, signal)];
    const candidates = (await Promise.all(queries.map((query) => this.#candidates(query, signal)))).flat();
    const images = this.#best(candidates);
    return images.length === 0 ? { kind: "none" } : { kind: "found", images };
  }

  /** I-1207: parameters that fail are skipped, unless all do. */
  async #aliasQuery(alias: Alias, kubernetesVersion: string, signal: AbortSignal | undefined): Promise<Query> {
    const parameters = aliasParameters(alias, kubernetesVersion);
    const answers = await Promise.allSettled(parameters.map(({ path }) => this.#parameter(path, ALIAS_LIFETIME_MS, signal)));
    const known = new Map<string, (readonly NodeSelectorRequirement[])[]>();
    for (const [index, answer] of answers.entries()) {
      if (answer.status === "rejected") continue;
      const wishes = parameters[index]?.variants.map((variant) => variantRequirements(variant, alias)) ?? [];
      known.set(answer.value, [...(known.get(answer.value) ?? []), ...wishes]);
    }
    const failure = answers.find((answer) => answer.status === "rejected");
    if (known.size === 0 && failure !== undefined) throw failure.reason;
    return { request: { Filters: [{ Name: "image-id", Values: [...known.keys()] }] }, known };
  }

  /** I-1203. */
  async #termQueries(terms: Terms, signal: AbortSignal | undefined): Promise<Query[]> {
    const ids: string[] = [];
    const queries: Query[] = [];
    for (const { id, ssmParameter, name, owner, tags } of terms) {
      if (id !== undefined) ids.push(id);
      else if (ssmParameter !== undefined) ids.push(...(await this.#imageIdOf(ssmParameter, signal)));
      else {
        const Owners = owner !== undefined ? [owner] : name !== undefined ? ["self", "amazon"] : undefined;
        const Filters = [...(name === undefined ? [] : [{ Name: "name", Values: [name] }]), ...tagFilters(tags ?? {})];
        queries.push({ request: { Filters, ...(Owners === undefined ? {} : { Owners }) } });
      }
    }
    return ids.length > 0 ? [...queries, { request: { Filters: [{ Name: "image-id", Values: ids }] } }] : queries;
  }

  /** I-1205: nothing where there is no such parameter, or where it names no image. */
  async #imageIdOf(name: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    try {
      const value = await this.#parameter(name, PARAMETER_LIFETIME_MS, signal);
      return value.startsWith("ami-") ? [value] : [];
    } catch (error) {
      if (hasAwsCode(error, "ParameterNotFound")) return [];
      throw error;
    }
  }

  /** I-1210. */
  async #parameter(name: string, lifetimeMs: number, signal: AbortSignal | undefined): Promise<string> {
    const now = this.#clock.monotonicMs();
    const held = this.#parameters.get(name);
    if (held !== undefined && held.endMs > now) return held.value;
    const { Parameter } = await this.#ec2.getParameter({ Name: name }, signal);
    this.#parameters.set(name, { value: Parameter.Value, endMs: now + lifetimeMs });
    return Parameter.Value;
  }

  /** I-1204, I-1212. */
  async #candidates({ request, known }: Query, signal: AbortSignal | undefined): Promise<Candidate[]> {
    const Filters = [...(request.Filters ?? []), { Name: "state", Values: ["available"] }];
    const images = await allPages(
      (token) => this.#ec2.describeImages({ ...request, Filters, IncludeDeprecated: true, MaxResults: 1000, ...token }, signal),
      ({ Images }) => Images,
    );
    return images.flatMap((image) => {
      const architecture = ARCHITECTURES[image.Architecture];
      if (architecture === undefined) return [];
      const own: NodeSelectorRequirement = { key: ARCH_LABEL, operator: "In", values: [architecture] };
      return (known?.get(image.ImageId) ?? [[]]).map((wishes) => ({ image, requirements: [...wishes, own].sort(byKeyLength) }));
    });
  }

  /** I-1213…I-1215: the best image per set of requirements, newest first. */
  #best(candidates: readonly Candidate[]): SelectedImages {
    const now = this.#clock.wallMs();
    const best = new Map<string, Candidate>();
    for (const candidate of candidates) {
      const key = JSON.stringify(candidate.requirements);
      const held = best.get(key);
      if (held === undefined || compareImages(candidate.image, held.image, now) > 0) best.set(key, candidate);
    }
    return [...best.values()]
      .sort((a, b) => createdAtSeconds(b.image) - createdAtSeconds(a.image) || (a.image.ImageId < b.image.ImageId ? -1 : 1))
      .map(({ image, requirements }) => ({
        id: image.ImageId,
        name: image.Name,
        ...(isDeprecated(image, now) ? { deprecated: true } : {}),
        requirements: requirements.map(({ key, operator, values }) => ({
          key,
          operator,
          ...(values === undefined ? {} : { values: [...values] }),
        })),
      }));
  }
}

/** Above 0 when `a` is better (I-1213). */
function compareImages(a: Image, b: Image, nowMs: number): number {
  const deprecation = Number(isDeprecated(b, nowMs)) - Number(isDeprecated(a, nowMs));
  if (deprecation !== 0) return deprecation;
  const age = createdAtSeconds(a) - createdAtSeconds(b);
  return age !== 0 ? age : a.Name > b.Name ? 1 : a.Name < b.Name ? -1 : 0;
}

/** I-1214: a date that cannot be read is the oldest. */
function createdAtSeconds({ CreationDate }: Image): number {
  const ms = Date.parse(CreationDate ?? "");
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

function isDeprecated({ DeprecationTime }: Image, nowMs: number): boolean {
  return DeprecationTime !== undefined && Date.parse(DeprecationTime) <= nowMs;
}

function byKeyLength(a: NodeSelectorRequirement, b: NodeSelectorRequirement): number {
  return a.key.length - b.key.length || (a.key < b.key ? -1 : 1);
}
