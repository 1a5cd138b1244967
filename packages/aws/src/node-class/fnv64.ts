/** FNV-1, 64 bits, as unsigned decimal text: the hash in names of instance profiles (W-320, W-400). */
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

export function fnv1Decimal(text: string): string {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, hash * PRIME) ^ BigInt(byte);
  return hash.toString();
}
