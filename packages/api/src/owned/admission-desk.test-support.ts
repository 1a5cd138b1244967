/** Collects what an API server with our CRDs takes and refuses, as data: each of several judges is asked about the same objects. */

export interface AdmissionCase {
  readonly title: string;
  readonly object: object;
  /** What is stored already; absent where the object is new. */
  readonly old?: object;
  /** What the refusal says; absent where the object is taken. */
  readonly refusal?: RegExp;
}

interface Desk {
  /** Everything within it bears the title. */
  about(title: string, collect: () => void): void;
  /** `%` and a letter in the title stand for the cells of a row. */
  each<Row extends readonly [unknown, ...unknown[]]>(rows: readonly Row[], title: string, collect: (...cells: Row) => void): void;
  each<Cell>(rows: readonly Cell[], title: string, collect: (cell: Cell) => void): void;
  accepts(object: object, old?: object): void;
  refuses(object: object, refusal: RegExp, old?: object): void;
}

export function collectCases(fill: (desk: Desk) => void): readonly AdmissionCase[] {
  const cases: AdmissionCase[] = [];
  const titles: string[] = [];
  const add = (object: object, old: object | undefined, refusal?: RegExp) =>
    void cases.push({ title: titles.join(": "), object, ...(old && { old }), ...(refusal && { refusal }) });

  function about(title: string, collect: () => void): void {
    titles.push(title);
    collect();
    titles.pop();
  }

  function each(rows: readonly unknown[], title: string, collect: (...cells: never[]) => void): void {
    for (const row of rows) {
      const cells = Array.isArray(row) ? row : [row];
      const texts = cells.map((cell) => (typeof cell === "string" ? cell : JSON.stringify(cell)));
      about(
        title.replace(/%[a-z]/g, () => texts.shift() ?? ""),
        () => collect(...(cells as never[])),
      );
    }
  }

  fill({ about, each, accepts: add, refuses: (object, refusal, old) => add(object, old, refusal) });
  return cases;
}
