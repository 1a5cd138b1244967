/** A law of the house was broken: the run ends here, and its seed is kept. */

export type Law =
  | "one instance per NodeClaim"
  | "no instance without NodeClaim"
  | "objects outlive their instance"
  | "pods leave in order"
  | "limits"
  | "one replica acts"
  | "only its own is written"
  | "everything settles"
  | "caches equal the API server";

export class Violation extends Error {
  override readonly name = "Violation";
  readonly law: Law;

  constructor(law: Law, message: string) {
    super(`${law}: ${message}`);
    this.law = law;
  }
}
