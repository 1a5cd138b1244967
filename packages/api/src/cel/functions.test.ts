/** What a Kubernetes API server adds to CEL, and where the engine would answer differently. */
import { Environment } from "@marcbachmann/cel-js";
import { describe, expect, test } from "vitest";
import { registerFunctions } from "./functions.ts";
import { adaptSource, isTransitionRule } from "./source.ts";

const env = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
registerFunctions(env);
const SELF = { text: "ab1cd22", list: [3n, 1n, 2n], words: ["x", "y"], map: { a: 1n, b: 2n }, empty: [] };
const evaluate = (rule: string): unknown => env.parse(adaptSource(rule))({ self: SELF });

test.each<[string, unknown]>([
  ["self.text.find('[0-9]+')", "1"],
  ["self.text.find('z')", ""],
  ["self.text.findAll('[0-9]+')", ["1", "22"]],
  ["self.text.findAll('[0-9]+', 1)", ["1"]],
  ["self.text.matches('^(?i)AB')", true],
  ["matches(self.text, '2$')", true],
  ["self.text.charAt(2)", "1"],
  ["self.text.charAt(7)", ""],
  ["self.text.replace('b', '$&')", "a$&1cd22"],
  ["'aaa'.replace('a', 'b', 2)", "bba"],
  ["'abc'.reverse()", "cba"],
  ["int('42') + int('+1') + int(2.9)", 45n],
  ["uint('7') == 7u", true],
  ["self.list.sum()", 6n],
  ["[1.5, 2.0].sum()", 3.5],
  ["self.list.max() - self.list.min()", 2n],
  ["self.list.isSorted() || [1, 2, 2].isSorted()", true],
  ["self.list.indexOf(1) + self.words.lastIndexOf('y')", 2n],
  ["self.list.indexOf(9)", -1n],
  ["sets.contains(self.list, [1, 3]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])", true],
  ["quantity('1.5Gi').compareTo(quantity('1536Mi'))", 0n],
  ["quantity('1').add(quantity('500m')).sub(1).isLessThan(quantity('1'))", true],
  ["quantity('2k').asInteger() + quantity('-1').sign()", 1999n],
  ["isQuantity('1Gib') || !isQuantity('1Gi')", false],
  ["ip('127.0.0.1').isLoopback() && ip('::1').family() == 6", true],
  ["cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", true],
  ["cidr('fd00::/8').containsCIDR('fd12:3456::/32') && cidr('10.0.0.0/8').prefixLength() == 8", true],
  ["ip('fd00::1') == ip('fd00:0:0:0:0:0:0:1')", true],
  ["url('https://example.com:8080/a').getHost() + url('https://example.com:8080/a').getPort()", "example.com:80808080"],
  ["isIP('1.2.3') || isCIDR('1.2.3.4/33') || isURL('x')", false],
  ["self.list.all(i, value, value > 0 && i < 3)", true],
  ["self.map.all(key, value, key != '' && value < 2)", false],
  ["self.words.exists(i, value, i == 1 && value == 'y')", true],
  ["self.empty.exists(i, value, true)", false],
  ["self.map.existsOne(key, value, value > 1)", true],
  ["self.list.transformList(i, value, i > 0, value * 10)", [10n, 20n]],
  ["self.words.transformList(i, value, value + string(i))", ["x0", "y1"]],
  ["self.map.transformMap(key, value, value * 2).b", 4n],
  ["self.list.all(i, v, self.words.exists(j, w, i >= j))", true],
  ["optional.of(3).value() + 1", 4n],
  ["'%s has %d of %.1f%%, %x'.format([self.words, 3, 2.25, 255])", "[x, y] has 3 of 2.3%, ff"],
  ["'%s %b %o %e'.format([self.map, true, 8, 12.0])", "{a: 1, b: 2} 1 10 1.200000e+01"],
])("%s", (rule, result) => {
  expect(evaluate(rule)).toEqual(result);
});

describe("errors", () => {
  test.each([
    "int('')",
    "int('0b1')",
    "int(' 1')",
    "int('9223372036854775808')",
    "self.text.charAt(8)",
    "self.empty.max()",
    "quantity('x')",
    "quantity('500m').asInteger()",
    "ip('x')",
    "cidr('1.2.3.4')",
    "self.list.all(i, v, v / 0 > 1)",
    "self.text.matches('(')",
    "'%s'.format([])",
    "'%d'.format(['x'])",
  ])("%s", (rule) => {
    expect(() => evaluate(rule)).toThrow();
  });
  test("an entry that says no outweighs the errors of others", () => {
    expect(evaluate("self.list.all(i, v, v == 3 ? 1 / 0 > 0 : false)")).toBe(false);
    expect(evaluate("self.list.exists(i, v, v == 3 ? 1 / 0 > 0 : true)")).toBe(true);
  });
});

test("only calls are renamed, not texts, comments or fields", () => {
  expect(adaptSource("self.int + int (x) // int(y)\n == 'int(z)'")).toBe("self.int + strictInt (x) // int(y)\n == 'int(z)'");
  expect(adaptSource(`r'\\' + "a\\"int(" + '''int(''' + matches(a, b)`)).toBe(`r'\\' + "a\\"int(" + '''int(''' + matchesPattern(a, b)`);
});

test.each([
  ["self == oldSelf", true],
  ["self == 'oldSelf'", false],
  ["self.oldSelfish", false],
])("a transition rule compares: %s %s", (rule, isTransition) => {
  expect(isTransitionRule(rule)).toBe(isTransition);
});
