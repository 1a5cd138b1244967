/** A rule: facts in, remarks out. Rules are pure and know nothing of each other. */

import type { Facts } from "./facts.ts";
import type { Remark, Severity } from "./finding.ts";

export interface Rule {
  /** Kebab-case; people search for it, and `docs/lint.md` has a heading for it. */
  readonly name: string;
  /** The gravest that the rule can say. */
  readonly severity: Severity;
  /** One sentence for lists of rules. */
  readonly summary: string;
  check(facts: Facts): Iterable<Remark>;
}
