/** Which instance types a plan may use: a catalogue file, or the built-in EC2 catalogue of a region. */
import { readFile } from "node:fs/promises";
import {
  AWS_VOCABULARY,
  type Ec2NodeClass,
  Ec2NodeClasses,
  type Kind,
  KWOK_VOCABULARY,
  KwokNodeClasses,
  type LabelVocabulary,
  type NodePool,
} from "@joinery/api";
import { formatCatalogueFault, parseCatalogue } from "@joinery/kwok";
import type { InstanceType } from "@joinery/scheduling";
import { CommandError, exitStatus } from "../exit-status.ts";
import { fileFault } from "../manifests/file-fault.ts";

export interface Catalogue {
  /** For people: where the types come from. */
  readonly source: string;
  readonly types: readonly InstanceType[];
  /** Of one pool. The same array for all pools that see the same types. */
  typesFor(nodePool: NodePool): readonly InstanceType[];
  /** Of a catalogue that knows what a node class makes of its types; see `classedCatalogue`. */
  typesOf?(nodeClass: Ec2NodeClass | undefined): readonly InstanceType[];
  readonly vocabulary: LabelVocabulary;
  /** Node classes whose pools can be planned with these types. */
  readonly nodeClassKinds: readonly Kind[];
  /** Regions that there are other built-in catalogues of. Absent for a file. */
  readonly regions?: readonly string[];
  /** Capacity types whose prices are modelled, not published. */
  readonly estimatedCapacityTypes: ReadonlySet<string>;
}

/** Formats: the array of Karpenter's KWOK provider. Every requirement key of an offering is a well-known label. */
export async function readCatalogueFile(file: string): Promise<Catalogue> {
  const outcome = parseCatalogue(parseJson(file, await readText(file)));
  if (outcome.kind === "invalid") {
    const lines = outcome.faults.map((fault) => `${file}: ${formatCatalogueFault(fault)}`);
    throw new CommandError(
      `the catalogue has ${lines.length === 1 ? "a fault" : `${lines.length} faults`}\n${lines.join("\n")}`,
      exitStatus.badInput,
    );
  }
  const { types } = outcome;
  return {
    source: file,
    types,
    typesFor: () => types,
    vocabulary: withOfferedKeys(KWOK_VOCABULARY, types),
    nodeClassKinds: [KwokNodeClasses, Ec2NodeClasses],
    estimatedCapacityTypes: new Set(),
  };
}

/** All types of the region, as AL2023 nodes until node classes are known; spot prices are estimates. */
export async function readBuiltInCatalogue(region: string): Promise<Catalogue> {
  const { CATALOGUE_REGIONS, loadBuiltInCatalogue } = await import("@joinery/aws");
  const known = CATALOGUE_REGIONS.find((name) => name === region);
  if (known === undefined) {
    const regions = CATALOGUE_REGIONS.join(", ");
    throw new CommandError(
      `there is no built-in catalogue of region "${region}"; use one of ${regions}, or --catalog FILE`,
      exitStatus.badInput,
    );
  }
  const { types, typesOf, sources } = await loadBuiltInCatalogue(known);
  return {
    source: `built-in EC2 catalogue of ${known}`,
    types,
    typesFor: () => types,
    typesOf,
    vocabulary: AWS_VOCABULARY,
    nodeClassKinds: [Ec2NodeClasses],
    regions: CATALOGUE_REGIONS,
    estimatedCapacityTypes: new Set(sources.spotPrices.isEstimated ? ["spot"] : []),
  };
}

/** Formats: every requirement key of an offering is a well-known label. */
export function withOfferedKeys(vocabulary: LabelVocabulary, types: readonly InstanceType[]): LabelVocabulary {
  const offered = types.flatMap(({ requirements, offerings }) =>
    [requirements, ...offerings.map((offering) => offering.requirements)].flat(),
  );
  return { ...vocabulary, wellKnown: new Set([...vocabulary.wellKnown, ...offered.map(({ key }) => key)]) };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(
      `cannot read the catalogue ${file}: ${fileFault(error)}; give a JSON file of instance types`,
      exitStatus.badInput,
    );
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(`the catalogue ${file} is no JSON: ${message}; want an array of instance types`, exitStatus.badInput);
  }
}
