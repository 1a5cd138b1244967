/** Which NodeOverlays hold, and what is wrong with the others. Rules A-53…, L-226…L-234. */
import { type Invalidity, type LabelVocabulary, type NodeOverlay, validateNodeOverlay } from "@joinery/api";
import type { InstanceType } from "../instance-type.ts";
import type { PoolOffer } from "../problem.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { type OverlaySet, overlaySet, siteKey } from "./overlaid-types.ts";
import { type OverlayTerms, offeringsMeant, overlayTerms, siteLabels } from "./overlay-terms.ts";

export type OverlayVerdict =
  /** Of how many types it speaks, over all pools that overlays tell apart. */
  | { readonly kind: "valid"; readonly typeCount: number }
  /** L-227: condition reason `RuntimeValidation`. */
  | { readonly kind: "invalid"; readonly invalid: readonly Invalidity[] }
  /** L-230, L-231: condition reason `Conflict`. Where it was met first, and what about: `price` or a resource's name. */
  | { readonly kind: "conflict"; readonly other: string; readonly nodePool: string; readonly instanceType: string; readonly about: string };

export interface OverlayEvaluation {
  /** By name of the overlay. */
  readonly verdicts: ReadonlyMap<string, OverlayVerdict>;
  /** Those that hold. */
  readonly overlays: OverlaySet;
}

/**
 * An overlay that conflicts anywhere is applied nowhere (L-229). `offers` are all pools whose types are known, with the types as the
 * provider gives them, static pools too.
 */
export function evaluateOverlays(
  overlays: Iterable<NodeOverlay>,
  offers: readonly PoolOffer[],
  vocabulary: LabelVocabulary,
): OverlayEvaluation {
  const verdicts = new Map<string, OverlayVerdict>();
  const sound = [...overlays].filter((overlay) => {
    const { invalid } = validateNodeOverlay(overlay, vocabulary);
    if (invalid.length > 0) verdicts.set(overlay.metadata?.name ?? "", { kind: "invalid", invalid });
    return invalid.length === 0;
  });
  const terms = overlayTerms(sound);
  const sites = distinctSites(terms, offers);
  const claims = new Claims();
  const holding = terms.filter((one) => {
    const verdict = claims.stake(one, sites);
    verdicts.set(one.name, verdict);
    return verdict.kind === "valid";
  });
  return { verdicts, overlays: overlaySet(holding) };
}

interface Site {
  readonly nodePool: string;
  readonly labels: Requirements;
  readonly types: readonly InstanceType[];
}

/** One for pools with the same types that no overlay tells apart. */
function distinctSites(terms: readonly OverlayTerms[], offers: readonly PoolOffer[]): readonly Site[] {
  const sites: Site[] = [];
  const seen = new Map<readonly InstanceType[], Set<string>>();
  for (const { nodePool, instanceTypes } of offers) {
    const labels = siteLabels(nodePool);
    const keys = seen.get(instanceTypes) ?? new Set();
    seen.set(instanceTypes, keys);
    const key = siteKey(terms, labels);
    if (!keys.has(key)) sites.push({ nodePool: nodePool.metadata?.name ?? "", labels, types: instanceTypes });
    keys.add(key);
  }
  return sites;
}

/** Who has said what about which price and resource, of those that hold so far. */
class Claims {
  /** By site, type and offering or resource: the name of each overlay with its weight, the last of each weight. */
  readonly #owners = new Map<string, Map<number, string>>();

  /** Looks first, then takes (L-229). */
  stake(terms: OverlayTerms, sites: readonly Site[]): OverlayVerdict {
    const wishes: string[] = [];
    let typeCount = 0;
    for (const [at, { nodePool, labels, types }] of sites.entries()) {
      for (const [index, type] of types.entries()) {
        const meant = offeringsMeant(terms.wanted, labels, type);
        if (meant.length === 0) continue;
        typeCount++;
        const place = `${at} ${index}`;
        const subjects = Object.keys(terms.capacity).map((resource) => ({ about: resource, key: `${place} capacity ${resource}` }));
        if (terms.price !== undefined) {
          for (const offering of meant) subjects.push({ about: "price", key: `${place} price ${type.offerings.indexOf(offering)}` });
        }
        for (const { about, key } of subjects) {
          const other = this.#owners.get(key)?.get(terms.weight);
          if (other !== undefined) return { kind: "conflict", other, nodePool, instanceType: type.name, about };
          wishes.push(key);
        }
      }
    }
    for (const key of wishes) {
      const owners = this.#owners.get(key) ?? new Map<number, string>();
      this.#owners.set(key, owners.set(terms.weight, terms.name));
    }
    return { kind: "valid", typeCount };
  }
}
