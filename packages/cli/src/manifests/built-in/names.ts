/** The syntax of names, label keys and label values, as API validation has it. */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Each says what would be right, or undefined when it is. */
export type NameRule = (text: string) => string | undefined;

export const dnsLabel: NameRule = (text) =>
  text.length <= 63 && LABEL.test(text)
    ? undefined
    : "use at most 63 lower-case letters, digits and -, with a letter or digit at both ends";

export const dnsSubdomain: NameRule = (text) =>
  text.length <= 253 && SUBDOMAIN.test(text)
    ? undefined
    : "use at most 253 lower-case letters, digits, - and ., with a letter or digit at both ends";

/** Label and annotation keys, taint keys, extended resources. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split("/");
  const [prefix, name] = parts.length === 2 ? parts : [undefined, text];
  const isName = parts.length <= 2 && name !== undefined && name.length <= 63 && NAME_PART.test(name);
  const isPrefix = prefix === undefined || dnsSubdomain(prefix) === undefined;
  return isName && isPrefix ? undefined : "use an optional domain and /, then at most 63 letters, digits, -, _ and .";
};

export const labelValue: NameRule = (text) =>
  text === "" || (text.length <= 63 && NAME_PART.test(text))
    ? undefined
    : "use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends";
