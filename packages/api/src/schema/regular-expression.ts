/**
 * Patterns in CRDs are RE2 expressions; JavaScript reads most of them alike. This file says the rest in JavaScript's words, so that
 * both find the same: `(?i)`, `(?P<name>`, `\A`, `\z`, POSIX classes, and what `.` and `\s` mean.
 */

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
const SPACES = "\\t\\n\\f\\r ";
const compiled = new Map<string, RegExp>();
const COMPILED_MAX = 1000;

/** Compiles a pattern (unanchored, as in CRDs). Throws a SyntaxError when it is none. */
export function compilePattern(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const expression = construct(translate(pattern));
  if (compiled.size >= COMPILED_MAX) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

function construct(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source); // escapes such as `\-` outside a class, which RE2 takes and the u flag does not
  }
}

function translate(pattern: string): string {
  let out = "";
  let isInClass = false;
  /** One entry per open group: how many groups for flags must be closed before it is. */
  const flagGroups = [0];
  let dotsMatchAll = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    const rest = pattern.slice(at);
    const posix = isInClass ? /^\[:([a-z]+):\]/.exec(rest) : null;
    const flags = isInClass ? null : /^\(\?([ims]+)\)/.exec(rest);
    if (posix !== null && POSIX_CLASSES[posix[1]!] !== undefined) {
      out += POSIX_CLASSES[posix[1]!];
      at += posix[0].length - 1;
    } else if (char === "\\") {
      out += translateEscape(pattern[++at] ?? "", isInClass);
    } else if (isInClass) {
      out += char === "[" ? "\\[" : char;
      if (char === "]") isInClass = false;
    } else if (char === "[") {
      const [head] = /^\[\^?\]?/.exec(rest)!; // a leading ] is itself
      isInClass = true;
      out += head.replace("]", "\\]");
      at += head.length - 1;
    } else if (flags !== null) {
      out += `(?${flags[1]}:`; // holds to the end of the group around it
      flagGroups[flagGroups.length - 1]! += 1;
      dotsMatchAll ||= flags[1]!.includes("s");
      at += flags[0].length - 1;
    } else if (char === ".") {
      out += dotsMatchAll ? "[\\s\\S]" : "[^\\n]";
    } else if (char === "(") {
      flagGroups.push(0);
      out += rest.startsWith("(?P<") ? "(?" : char;
      if (rest.startsWith("(?P<")) at += 2;
    } else if (char === ")") {
      out += ")".repeat((flagGroups.length > 1 ? flagGroups.pop()! : 0) + 1);
    } else {
      out += char;
    }
  }
  return out + ")".repeat(flagGroups[0]!);
}

function translateEscape(char: string, isInClass: boolean): string {
  switch (char) {
    case "A":
      return "^";
    case "z":
      return "$";
    case "s":
      return isInClass ? SPACES : `[${SPACES}]`;
    case "S":
      return isInClass ? "\\S" : `[^${SPACES}]`;
    default:
      return `\\${char}`;
  }
}
