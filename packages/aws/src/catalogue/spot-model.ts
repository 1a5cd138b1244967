/**
 * A model of spot prices for where nobody can ask AWS: each is a share of the on-demand price. It is an estimate and is marked so
 * wherever it is shown. The shares follow what public spot price histories look like: deeper discounts for older and for storage
 * types, smaller ones for accelerators and for new generations, some difference between zones that a family shares, and a little
 * between sizes. Equal input gives equal prices.
 */

/** By instance category: the share in a mean zone for generation 6. */
const SHARE_BY_CATEGORY: Readonly<Record<string, number>> = {
  t: 0.36,
  c: 0.4,
  m: 0.4,
  r: 0.38,
  x: 0.36,
  i: 0.38,
  d: 0.36,
  h: 0.34,
  z: 0.42,
  hpc: 0.5,
};
const SHARE_OF_ACCELERATED = 0.46;
const ACCELERATED = /^(g|gr|p|inf|trn|dl|f|vt)$/;
const SHARE_PER_GENERATION = 0.015;
const MEAN_GENERATION = 6;
/** Half the width of the range in which zones, and sizes within a zone, differ. */
const ZONE_SPREAD = 0.12;
const SIZE_SPREAD = 0.06;

/** USD per hour, to the hundredth of a cent. */
export function estimateSpotPrice(instanceType: string, zone: string, onDemandPrice: number): number {
  const [, category = "", generation = `${MEAN_GENERATION}`] = /^([a-z]+)(?:-\d+tb)?(\d+)?/.exec(instanceType) ?? [];
  const base = ACCELERATED.test(category) ? SHARE_OF_ACCELERATED : (SHARE_BY_CATEGORY[category] ?? 0.4);
  const aged = base + SHARE_PER_GENERATION * (Number(generation) - MEAN_GENERATION);
  const family = instanceType.split(".", 1)[0] ?? instanceType;
  const share = aged * spread(`${family}/${zone}`, ZONE_SPREAD) * spread(`${instanceType}/${zone}`, SIZE_SPREAD);
  return Math.round(onDemandPrice * share * 1e4) / 1e4;
}

/** From 1 - width to 1 + width, by the text alone. */
function spread(text: string, width: number): number {
  return 1 - width + 2 * width * (fnv1a(text) / 2 ** 32);
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // Names differ mostly at their ends, which FNV leaves in the low bits: mix them upwards.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
