/** Names and label values as Kubernetes itself understands them, lengths included. */

const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const DNS_LABELS = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_LENGTH_MAX = 63;
const PREFIX_LENGTH_MAX = 253;

/** `example.com/name` or `name`: the name up to 63 characters, the prefix a DNS subdomain up to 253. */
export function isQualifiedName(text: string): boolean {
  return whyNoQualifiedName(text) === undefined;
}

/** What is wrong with a qualified name, as a sentence part. */
export function whyNoQualifiedName(text: string): string | undefined {
  const parts = text.split("/");
  if (parts.length > 2) return "a qualified name has at most one '/'";
  const name = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === "") return "prefix part must not be empty";
  if (prefix !== undefined && prefix.length > PREFIX_LENGTH_MAX) return `prefix part must be no more than ${PREFIX_LENGTH_MAX} characters`;
  if (prefix !== undefined && !DNS_LABELS.test(prefix)) return "prefix part must be a lower-case DNS subdomain";
  if (name === "") return "name part must not be empty";
  if (name.length > NAME_LENGTH_MAX) return `name part must be no more than ${NAME_LENGTH_MAX} characters`;
  return NAME.test(name)
    ? undefined
    : "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
}

/** Empty, or up to 63 characters of the usual kind. */
export function isLabelValue(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && LABEL_VALUE.test(text);
}
