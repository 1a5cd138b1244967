/** What the volumes of a pod ask of its node: where they can be reached, and how many of a driver's fit. Rules S-121…S-126. */
import type { Toleration } from "@joinery/api";
import { remembered } from "../memo.ts";
import type { PodShape, Problem, VolumeClaim } from "../problem.ts";
import { Requirements } from "../requirements/requirements.ts";
import type { Constraint } from "../solve/claim-state.ts";

/** Claims by CSI driver, as `namespace/name`; a claim that several pods share is one attachment (S-127). */
export type Attachments = ReadonlyMap<string, ReadonlySet<string>>;

export interface VolumeDemand {
  /** One of them has to be met, the first that can be; empty = nowhere, undefined = anywhere. */
  readonly alternatives: readonly Constraint[] | undefined;
  readonly attachments: Attachments;
}

/** A volume is not kept away by taints. */
const ALL_TAINTS: readonly Toleration[] = [{ operator: "Exists" }];

export class VolumeDemands {
  readonly #claims: NonNullable<Problem["claims"]>;
  readonly #constraints = new Map<string, Constraint>();

  constructor({ claims }: Problem) {
    this.#claims = claims ?? new Map();
  }

  /** undefined: no volume of the shape asks for anything. Claims that nobody knows are ignored (S-126, V-73). */
  of({ namespace, claimNames = [] }: PodShape): VolumeDemand | undefined {
    if (claimNames.length === 0) return undefined;
    const claims = claimNames.flatMap((name) => this.#claims.get(`${namespace}/${name}`) ?? []);
    const combined = combinations(claims);
    const attachments = attachmentsOf({ namespace, claimNames }, this.#claims);
    if (combined === undefined && attachments.size === 0) return undefined;
    return { alternatives: combined?.map((requirements) => this.#constraintOf(requirements)), attachments };
  }

  #constraintOf(requirements: Requirements): Constraint {
    return remembered(this.#constraints, requirements.canonicalText, () => ({ index: -1, requirements, tolerations: ALL_TAINTS }));
  }
}

/** S-126. */
export function attachmentsOf(
  { namespace, claimNames = [] }: Pick<PodShape, "namespace" | "claimNames">,
  claims: NonNullable<Problem["claims"]>,
): Attachments {
  const byDriver = new Map<string, Set<string>>();
  for (const name of claimNames) {
    const key = `${namespace}/${name}`;
    const driver = claims.get(key)?.driver;
    if (driver !== undefined) remembered(byDriver, driver, () => new Set()).add(key);
  }
  return byDriver;
}

/** Both together. */
export function joined(one: Attachments, other: Attachments): Attachments {
  if (other.size === 0) return one;
  const both = new Map(one);
  for (const [driver, claims] of other) both.set(driver, new Set([...(one.get(driver) ?? []), ...claims]));
  return both;
}

/**
 * S-124: every way to meet all volumes, the earlier volume's choice first, without those that contradict themselves; empty where all do,
 * and then there is no place for the pod. undefined when no volume asks for anything.
 */
function combinations(claims: readonly VolumeClaim[]): readonly Requirements[] | undefined {
  let combined: readonly Requirements[] | undefined;
  for (const { alternatives } of claims) {
    if (alternatives.length === 0) continue;
    const own = alternatives.map((items) => Requirements.fromItems(items));
    if (combined === undefined) {
      combined = own;
      continue;
    }
    const pairs = combined.flatMap((one) => own.map((other) => ({ both: one.and(other), areMet: one.intersects(other) })));
    combined = pairs.filter(({ areMet }) => areMet).map(({ both }) => both);
  }
  return combined;
}
