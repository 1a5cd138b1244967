/** Borderless tables as kubectl prints them: upper-case heads, columns three blanks apart. */
import { stripVTControlCharacters } from "node:util";

const GAP = "   ";

/** Lines without trailing blanks. Cells may carry colours; their visible width counts. */
export function renderTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, column) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[column] ?? ""))));
  return [heads, ...rows].map((row) =>
    heads
      .map((_, column) => padTo(row[column] ?? "", widths[column]!))
      .join(GAP)
      .trimEnd(),
  );
}

function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
