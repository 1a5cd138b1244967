/** Figures per instance type that come from a file, or stay as the committed catalogue has them. */
import { readFileSync } from "node:fs";
import type { CatalogueFile } from "../../packages/aws/src/catalogue/columns.ts";

export interface Figures {
  readonly asOf: string;
  readonly byType: ReadonlyMap<string, number>;
}

/** A file in the form `{ "asOf": …, "<field>": { "<type>": number } }`. */
export function readFigures(file: string, field: string): Figures {
  const facts = JSON.parse(readFileSync(file, "utf8")) as { readonly asOf: string } & Readonly<
    Record<string, Readonly<Record<string, number>>>
  >;
  if (facts[field] === undefined) throw new Error(`${file} has no "${field}"`);
  return { asOf: facts.asOf, byType: new Map(Object.entries(facts[field])) };
}

const SOURCES = { onDemand: "onDemandPrices", networkMbps: "networkBandwidth", branchInterfaceCounts: "branchInterfaces" } as const;

/** What the catalogue that is to be replaced says. */
export function currentFigures(current: CatalogueFile, column: keyof typeof SOURCES): Figures {
  const cells = current.names.flatMap((name, row) => {
    const cell = current[column][row];
    return cell === null || cell === undefined ? [] : [[name, cell] as const];
  });
  return { asOf: current[SOURCES[column]].asOf, byType: new Map(cells) };
}
