/**
 * CEL's comprehensions with two variables, which the engine has not: `list.all(i, value, …)` and `map.all(key, value, …)`, likewise
 * `exists`, `existsOne`, `transformList` and `transformMap`. They are built from the parts that the engine hands to a macro.
 */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";

interface CelType {
  readonly kind: string;
  readonly keyType?: CelType;
  readonly valueType?: CelType;
}

interface Scope {
  forkWithVariable(name: string, type: CelType): Scope;
  reuse(parent: Scope): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}

interface Checker {
  check(node: ASTNode, scope: Scope): CelType;
  getType(name: string): CelType;
}

interface Evaluator {
  run(node: ASTNode, scope: Scope): unknown;
}

interface Call {
  readonly args: readonly ASTNode[];
  readonly receiver: ASTNode;
}

type Entry = readonly [key: unknown, value: unknown];

/** `run(entry, 0)` evaluates the first expression after the variables for one entry, and so on. */
type Fold = (entries: readonly Entry[], run: (entry: Entry, expression: number) => unknown, hasFilter: boolean) => unknown;

export function registerTwoVariableMacros(env: Environment): void {
  const register = (name: string, count: number, type: string, fold: Fold) => {
    const signature = `list.${name}(${Array.from({ length: count }, () => "ast").join(", ")}): ${type}`;
    env.registerFunction(signature, (call: Call) => expand(call, type, fold));
  };
  register("all", 3, "bool", all);
  register("exists", 3, "bool", (entries, run) => !(all(entries, (entry, at) => not(run(entry, at)), false) as boolean));
  register("existsOne", 3, "bool", (entries, run) => entries.filter((entry) => asFlag(run(entry, 0))).length === 1);
  for (const count of [3, 4]) {
    register("transformList", count, "list<dyn>", (entries, run, hasFilter) => kept(entries, run, hasFilter).map(([, value]) => value));
    register("transformMap", count, "map<dyn, dyn>", (entries, run, hasFilter) =>
      Object.fromEntries(kept(entries, run, hasFilter) as [string, unknown][]),
    );
  }
}

/** One entry that says no decides; otherwise an error of any entry is the result. */
const all: Fold = (entries, run) => {
  let failure: unknown;
  for (const entry of entries) {
    try {
      if (!asFlag(run(entry, 0))) return false;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return true;
};

const kept = (entries: readonly Entry[], run: (entry: Entry, expression: number) => unknown, hasFilter: boolean): Entry[] =>
  entries.flatMap((entry): Entry[] => (hasFilter && !asFlag(run(entry, 0)) ? [] : [[entry[0], run(entry, hasFilter ? 1 : 0)]]));

function asFlag(value: unknown): boolean {
  if (typeof value !== "boolean") throw new TypeError("the predicate of a comprehension must be a bool");
  return value;
}

const not = (value: unknown): boolean => !asFlag(value);

function expand({ args, receiver }: Call, type: string, fold: Fold): object {
  const [first, second, ...expressions] = args;
  let outer: Scope | undefined;
  let inner: Scope | undefined;
  return {
    args,
    async: false,
    typeCheck(checker: Checker, _macro: unknown, scope: Scope): CelType {
      const range = checker.check(receiver, scope);
      const dyn = checker.getType("dyn");
      const keyType = range.kind === "list" ? checker.getType("int") : (range.keyType ?? dyn);
      outer = scope.forkWithVariable(nameOf(first), keyType);
      inner = outer.forkWithVariable(nameOf(second), range.valueType ?? dyn);
      for (const expression of expressions) checker.check(expression, inner);
      return checker.getType(type);
    },
    evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
      const run = ([key, value]: Entry, expression: number) => {
        const keyed = outer!.reuse(scope).setIterValue(key, evaluator);
        return evaluator.run(expressions[expression]!, inner!.reuse(keyed).setIterValue(value, evaluator));
      };
      return fold(entriesOf(evaluator.run(receiver, scope)), run, expressions.length > 1);
    },
  };
}

function nameOf(node: ASTNode | undefined): string {
  if (node?.op !== "id") throw new TypeError("a comprehension's variable must be a name");
  return node.args as string;
}

function entriesOf(range: unknown): readonly Entry[] {
  if (Array.isArray(range)) return range.map((value, at): Entry => [BigInt(at), value]);
  if (range instanceof Map) return [...range.entries()];
  if (typeof range === "object" && range !== null) return Object.entries(range);
  throw new TypeError("the range of a comprehension must be a list or a map");
}
