/**
 * The hash behind Karpenter's drift annotations: FNV-1 over values, with names of structures and fields mixed in. Rules A-128…A-133.
 * Hashes are unsigned 64-bit numbers.
 */

export type Hash = bigint;

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;
const encoder = new TextEncoder();

/** FNV-1: multiply, then mix in the byte. */
function hashBytes(bytes: Iterable<number>): Hash {
  let hash = OFFSET;
  for (const byte of bytes) hash = ((hash * PRIME) & MASK) ^ BigInt(byte);
  return hash;
}

export const hashText = (text: string): Hash => hashBytes(encoder.encode(text));
export const hashFlag = (flag: boolean): Hash => hashBytes([flag ? 1 : 0]);
export const hashInt64 = (number: number | bigint): Hash => hashBytes(littleEndian(BigInt.asUintN(64, BigInt(number)), 8));
export const hashInt32 = (number: number): Hash => hashBytes(littleEndian(BigInt.asUintN(32, BigInt(number)), 4));

/** Order does not matter, and two equal items cancel each other. */
export function hashList(items: readonly Hash[]): Hash {
  return items.reduce((sum, item) => sum ^ item, 0n);
}

export function hashMap(map: Readonly<Record<string, string>>): Hash {
  return finish(hashList(Object.entries(map).map(([key, value]) => pair(hashText(key), hashText(value)))));
}

/** Fields in the order of the structure; an undefined hash is a field that counts as zero and is left out. */
export function hashStructure(name: string, fields: readonly (readonly [name: string, hash: Hash | undefined])[]): Hash {
  return fields.reduce(
    (hash, [field, value]) => (value === undefined ? hash : finish(hash ^ pair(hashText(field), value))),
    hashText(name),
  );
}

/** `present(value, hash)`: the hash of what is set, undefined for what is not. */
export function present<Value>(value: Value | undefined | null, hash: (value: Value) => Hash | undefined): Hash | undefined {
  return value === undefined || value === null ? undefined : hash(value);
}

const finish = (hash: Hash): Hash => hashBytes(littleEndian(hash, 8));
const pair = (one: Hash, other: Hash): Hash => hashBytes([...littleEndian(one, 8), ...littleEndian(other, 8)]);

function littleEndian(number: bigint, size: number): number[] {
  return Array.from({ length: size }, (_, at) => Number((number >> BigInt(8 * at)) & 0xffn));
}
