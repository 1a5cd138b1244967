/** What a NodeOverlay makes of a price. Rule A-52. */

/** `change` is `price` or `priceAdjustment` of an overlay, in the form that admission lets through. Never below 0, never rounded. */
export function changedPrice(price: number, change: string): number {
  if (!/^[+-]/.test(change)) return Number(change);
  const amount = change.endsWith("%") ? Number(change.slice(0, -1)) : Number(change);
  return Math.max(0, change.endsWith("%") ? price * (1 + amount / 100) : price + amount);
}
