/** HiGHS, loaded when it is asked. */
import type { LinearProgram } from "./linear-program.ts";

let loaded: ReturnType<typeof load> | undefined;

async function load() {
  const { default: loader } = await import("highs");
  // Its types are those of the CommonJS build, of which the loader is a property; in the ES build, which is loaded here, it is the default.
  return (loader as unknown as typeof loader.default)();
}

/** Multipliers of the rows at the optimum. Throws when there is none. */
export async function rowMultipliers({ costs, most, rows }: LinearProgram): Promise<Float64Array> {
  loaded ??= load();
  const highs = await loaded;
  const starts = [0];
  for (const { variables } of rows) starts.push(starts.at(-1)! + variables.length);
  return highs.withModel(
    {
      numCols: costs.length,
      numRows: rows.length,
      colCost: Float64Array.from(costs),
      colLower: new Float64Array(costs.length),
      colUpper: Float64Array.from(most, () => Number.POSITIVE_INFINITY),
      rowLower: Float64Array.from(rows, ({ least }) => least),
      rowUpper: Float64Array.from(rows, (row) => row.most),
      matrix: {
        format: "csr",
        numCols: costs.length,
        numRows: rows.length,
        starts: Int32Array.from(starts),
        indices: Int32Array.from(rows.flatMap(({ variables }) => variables)),
        values: Float64Array.from(rows.flatMap(({ coefficients }) => coefficients)),
      },
    },
    (model) => {
      model.options.set({ output_flag: false });
      model.run();
      if (model.getModelStatus() !== highs.constants.modelStatus.optimal) throw new Error("the linear program has no optimum");
      return model.getSolution().rowDual;
    },
  );
}
