/** CEL functions of Kubernetes about addresses: `ip()`, `cidr()`, `url()`. */
import type { Environment } from "@marcbachmann/cel-js";
import { isOfFormat } from "../schema/format.ts";

/** An address as a number of 32 or 128 bits. */
class IpValue {
  readonly bits: 32 | 128;
  readonly number: bigint;
  constructor(bits: 32 | 128, number: bigint) {
    this.bits = bits;
    this.number = number;
  }
}

class CidrValue {
  readonly address: IpValue;
  readonly prefixLength: number;
  constructor(address: IpValue, prefixLength: number) {
    this.address = address;
    this.prefixLength = prefixLength;
  }
}

class UrlValue {
  readonly url: URL;
  constructor(url: URL) {
    this.url = url;
  }
}

export function registerNetworkFunctions(env: Environment): void {
  registerAddresses(env);
  registerRanges(env);
  registerUrls(env);
}

function registerAddresses(env: Environment): void {
  env.registerType("IpAddress", IpValue);
  env.registerFunction("ip(string): IpAddress", parseIp);
  env.registerFunction("isIP(string): bool", (text: string) => isOfFormat(text, "ipv4") || isOfFormat(text, "ipv6"));
  env.registerFunction("IpAddress.family(): int", ({ bits }: IpValue) => (bits === 32 ? 4n : 6n));
  env.registerFunction("IpAddress.isUnspecified(): bool", ({ number }: IpValue) => number === 0n);
  env.registerFunction("IpAddress.isLoopback(): bool", ({ bits, number }: IpValue) =>
    bits === 32 ? number >> 24n === 127n : number === 1n,
  );
  env.registerOperator("IpAddress == IpAddress", (one: IpValue, other: IpValue) => one.bits === other.bits && one.number === other.number);
}

function registerRanges(env: Environment): void {
  env.registerType("CidrRange", CidrValue);
  env.registerFunction("cidr(string): CidrRange", parseCidr);
  env.registerFunction("isCIDR(string): bool", (text: string) => isOfFormat(text, "cidr"));
  env.registerFunction("CidrRange.prefixLength(): int", ({ prefixLength }: CidrValue) => BigInt(prefixLength));
  env.registerFunction("CidrRange.ip(): IpAddress", ({ address }: CidrValue) => address);
  env.registerFunction("CidrRange.containsIP(string): bool", (range: CidrValue, text: string) => contains(range, parseIp(text)));
  env.registerFunction("CidrRange.containsIP(IpAddress): bool", contains);
  const containsRange = (range: CidrValue, inner: CidrValue) => inner.prefixLength >= range.prefixLength && contains(range, inner.address);
  env.registerFunction("CidrRange.containsCIDR(string): bool", (range: CidrValue, text: string) => containsRange(range, parseCidr(text)));
  env.registerFunction("CidrRange.containsCIDR(CidrRange): bool", containsRange);
}

function registerUrls(env: Environment): void {
  env.registerType("Url", UrlValue);
  env.registerFunction("isURL(string): bool", (text: string) => URL.canParse(text));
  env.registerFunction("url(string): Url", (text: string) => new UrlValue(new URL(text)));
  env.registerFunction("Url.getScheme(): string", ({ url }: UrlValue) => url.protocol.replace(/:$/, ""));
  env.registerFunction("Url.getHost(): string", ({ url }: UrlValue) => url.host);
  env.registerFunction("Url.getHostname(): string", ({ url }: UrlValue) => url.hostname.replaceAll(/^\[|\]$/g, ""));
  env.registerFunction("Url.getPort(): string", ({ url }: UrlValue) => url.port);
  env.registerFunction("Url.getEscapedPath(): string", ({ url }: UrlValue) => url.pathname);
}

function contains({ address, prefixLength }: CidrValue, { bits, number }: IpValue): boolean {
  const shift = BigInt(address.bits - prefixLength);
  return bits === address.bits && number >> shift === address.number >> shift;
}

function parseCidr(text: string): CidrValue {
  if (!isOfFormat(text, "cidr")) throw new TypeError(`"${text}" is no CIDR`);
  const [address = "", length = ""] = text.split("/");
  return new CidrValue(parseIp(address), Number(length));
}

function parseIp(text: string): IpValue {
  if (isOfFormat(text, "ipv4"))
    return new IpValue(
      32,
      text.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n),
    );
  if (isOfFormat(text, "ipv6"))
    return new IpValue(
      128,
      ipv6Groups(text).reduce((sum, group) => (sum << 16n) | BigInt(group), 0n),
    );
  throw new TypeError(`"${text}" is no IP address`);
}

/** The URL parser writes an address in its shortest form; one `::` stands for as many zeros as are missing. */
function ipv6Groups(text: string): number[] {
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return groups(head);
  const zeros = 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array.from({ length: zeros }, () => 0), ...groups(tail)];
}
