/** Where a field is inside an object, and how people write it. */

export type FieldPath = readonly (string | number)[];

/** `spec.containers[0].image`; keys that are no plain names in brackets, as Kubernetes does: `metadata.labels[example.com/team]`. */
export function formatFieldPath(path: FieldPath): string {
  return path
    .map((part, index) => {
      if (typeof part === "number" || !/^[A-Za-z_$][\w$-]*$/.test(part)) return `[${part}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** The inverse. Brackets around digits are list positions. */
export function parseFieldPath(text: string): FieldPath {
  const path: (string | number)[] = [];
  for (const [, bracketed, plain] of text.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)) {
    if (plain !== undefined) path.push(plain);
    else if (/^\d+$/.test(bracketed!)) path.push(Number(bracketed));
    else path.push(bracketed!.replace(/^["']|["']$/g, ""));
  }
  return path;
}
