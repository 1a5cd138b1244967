/** Grouped horizontal bars on a logarithmic axis, as SVG text: equal figures give equal bytes. */

export interface BarChart {
  readonly title: string;
  /** What a bar's length means, with its unit. */
  readonly measure: string;
  readonly series: readonly { readonly name: string; readonly color: string }[];
  readonly groups: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[];
  /** Where bars begin; shorter ones are drawn as nothing, with their figure beside. */
  readonly least: number;
  readonly label: (value: number) => string;
}

const WIDTH = 820;
const NAMES = 170;
const FIGURES = 90;
const BAR = 11;
const GAP = 10;
const HEAD = 62;

export function barChart({ title, measure, series, groups, least, label }: BarChart): string {
  const all = groups.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const span = Math.log10(Math.max(...all, least * 10) / least);
  const lengthOf = (value: number) => (Math.max(0, Math.log10(Math.max(value, least) / least)) / span) * (WIDTH - NAMES - FIGURES);
  const lines: string[] = [];
  let x = NAMES;
  for (const { name, color } of series) {
    lines.push(`<rect x="${x}" y="40" width="10" height="10" fill="${color}"/>`, text(x + 14, 49, name));
    x += 30 + name.length * 7;
  }
  let y = HEAD;
  for (const { name, values } of groups) {
    lines.push(text(NAMES - 8, y + (values.length * BAR) / 2 + 4, name, "end"));
    values.forEach((value, index) => {
      if (value === undefined) return;
      const length = lengthOf(value).toFixed(1);
      const at = y + index * BAR;
      lines.push(`<rect x="${NAMES}" y="${at}" width="${length}" height="${BAR - 2}" fill="${series[index]!.color}"/>`);
      lines.push(text(NAMES + Number(length) + 4, at + 8, label(value), "start", 9));
    });
    y += values.length * BAR + GAP;
  }
  const height = y + 4;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(NAMES, 16, title, "start", 14),
    text(NAMES, 32, `${measure}; logarithmic`),
    ...lines,
    "</svg>",
  ].join("\n")}\n`;
}

function text(x: number, y: number, words: string, anchor = "start", size = 11): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" text-anchor="${anchor}" fill="#222222">${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
