/** A linear program, row by row: the least of cost · x where every row is within its bounds and 0 ≤ x ≤ most. */

export interface LinearProgram {
  readonly costs: readonly number[];
  /** An upper bound of each variable that any solution worth having keeps. */
  readonly most: readonly number[];
  readonly rows: readonly Row[];
}

export interface Row {
  readonly least: number;
  readonly most: number;
  /** Variables and their coefficients; each variable at most once. */
  readonly variables: readonly number[];
  readonly coefficients: readonly number[];
}

export interface Builder {
  /** The new variable's number. */
  variable(cost: number, most: number): number;
  row(bounds: { readonly least?: number; readonly most?: number }): { add(variable: number, coefficient: number): void };
  readonly program: LinearProgram;
}

export function createBuilder(): Builder {
  const costs: number[] = [];
  const most: number[] = [];
  const rows: Row[] = [];
  return {
    program: { costs, most, rows },
    variable: (cost, bound) => {
      most.push(bound);
      return costs.push(cost) - 1;
    },
    row: (bounds) => {
      const variables: number[] = [];
      const coefficients: number[] = [];
      rows.push({
        least: bounds.least ?? Number.NEGATIVE_INFINITY,
        most: bounds.most ?? Number.POSITIVE_INFINITY,
        variables,
        coefficients,
      });
      return {
        add(variable, coefficient) {
          variables.push(variable);
          coefficients.push(coefficient);
        },
      };
    },
  };
}

/**
 * What no solution can cost less than, from any multipliers of the rows: the sum of the rows, so multiplied, bounds the cost from below.
 * Where a variable's cost is less than what the rows credit it with, its upper bound pays. True whatever solver gave the multipliers.
 */
export function weakDualBound({ costs, most, rows }: LinearProgram, multipliers: ArrayLike<number>): number {
  const reduced = Float64Array.from(costs);
  let bound = 0;
  rows.forEach((row, index) => {
    const side = multipliers[index]! > 0 ? row.least : row.most;
    if (multipliers[index] === 0 || !Number.isFinite(side)) return; // a multiplier of the wrong sign counts as 0
    bound += multipliers[index]! * side;
    row.variables.forEach((variable, entry) => {
      reduced[variable]! -= multipliers[index]! * row.coefficients[entry]!;
    });
  });
  return reduced.reduce((sum, cost, variable) => (cost < 0 ? sum + cost * most[variable]! : sum), bound);
}
