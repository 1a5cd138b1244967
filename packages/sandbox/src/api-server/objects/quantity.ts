/** Canonical text of a `resource.Quantity`, as the API server stores it: `1000m` becomes `1`, `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. */

const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+|)$/;
const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binaryPowers: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;

const known = new Map<string, string>();

/** Undefined when the text is no quantity. */
export function canonicalQuantity(value: string | number): string | undefined {
  const text = String(value);
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const canonical = format(text);
  // The same few dozen quantities come again and again; a hostile stream of different ones must not fill memory.
  if (canonical !== undefined && known.size < 10_000) known.set(text, canonical);
  return canonical;
}

function format(text: string): string | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign = "", digits = "", suffix = ""] = match;
  const minus = sign === "-" ? "-" : "";
  const binary = binaryPowers[suffix];
  if (binary !== undefined) return formatBinary(minus, digits, binary);
  const exponent = /^[eE]/.test(suffix) && suffix.length > 1 ? Number(suffix.slice(1)) : (decimalExponents[suffix] ?? 0);
  const nanos = scaled(digits, exponent + 9);
  if (nanos === 0n) return "0";
  const isExponentForm = /^[eE]/.test(suffix) && suffix.length > 1;
  let step = 0;
  let left = nanos;
  while (step < decimalSuffixes.length - 1 && left % 1000n === 0n) {
    left /= 1000n;
    step++;
  }
  if (!isExponentForm) return `${minus}${left}${decimalSuffixes[step]}`;
  const power = (step - 3) * 3;
  return `${minus}${left}${power === 0 ? "" : `e${power}`}`;
}

/** digits × 10^exponent as a whole number, rounded up as the server rounds. */
function scaled(digits: string, exponent: number): bigint {
  const [whole = "", fraction = ""] = digits.split(".");
  const all = BigInt(whole + fraction || "0");
  const shift = exponent - fraction.length;
  if (shift >= 0) return all * 10n ** BigInt(Math.min(shift, 60));
  const divisor = 10n ** BigInt(Math.min(-shift, 60));
  return (all + divisor - 1n) / divisor;
}

function formatBinary(minus: string, digits: string, power: number): string {
  const [whole = "", fraction = ""] = digits.split(".");
  const scale = 10n ** BigInt(fraction.length);
  const total = BigInt(whole + fraction || "0") * 1024n ** BigInt(power);
  if (total === 0n) return "0";
  if (total % scale !== 0n) return format(`${minus}${Number(total) / Number(scale)}`) ?? "0";
  let left = total / scale;
  let step = 0;
  while (step < binarySuffixes.length - 1 && left % 1024n === 0n) {
    left /= 1024n;
    step++;
  }
  return `${minus}${left}${binarySuffixes[step]}`;
}
