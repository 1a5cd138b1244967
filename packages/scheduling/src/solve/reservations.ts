/**
 * Which capacity reservations are still to be had during one solve. A claim holds every reservation that it might use, so that no two
 * claims count on the same slot. Rules S-166…S-169, V-52, V-62.
 */
import { CAPACITY_TYPE_LABEL } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { hasCommon, type TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import type { Problem, SolveOptions } from "../problem.ts";
import { Requirements } from "../requirements/requirements.ts";
import type { ClaimState } from "./claim-state.ts";

/** Providers give each reservation's ID in this label; the AWS one unless the options name another. */
const RESERVATION_ID_LABEL = "karpenter.k8s.aws/capacity-reservation-id";

/** What the offerings that are left allow a claim. */
export type ReservationOutcome =
  | { readonly kind: "free"; readonly ids: ReadonlySet<string> }
  /** Every reservation that it could use is taken in this solve, or has no slot and there is nothing else (V-62). */
  | { readonly kind: "deferred" }
  /** The same where nobody may wait: another pool may do (V-62). */
  | { readonly kind: "full" };

const NONE: ReadonlySet<string> = new Set();
const FREE: ReservationOutcome = { kind: "free", ids: NONE };

export class Reservations {
  /** Grows with each slot that is given back. */
  version = 0;
  readonly idLabel: string;
  readonly #mode: NonNullable<SolveOptions["reservedCapacity"]>;
  /** Slots by reservation, when the solve began. */
  readonly #slots = new Map<string, number>();
  readonly #free = new Map<string, number>();
  /** By catalogue and kind of offering: the reservation; undefined for what is not reserved. */
  readonly #ids = new Map<Catalog, readonly (string | undefined)[]>();

  constructor({ pools, options }: Problem) {
    this.idLabel = options.reservationIdLabel ?? RESERVATION_ID_LABEL;
    this.#mode = options.reservedCapacity ?? "strict";
    for (const { requirements, isAvailable, reservationCapacity = 0 } of offeringsOf(pools)) {
      const items = Requirements.fromItems(requirements);
      if (!isAvailable || items.find(CAPACITY_TYPE_LABEL)?.values[0] !== "reserved") continue;
      const id = this.#idOf(items);
      this.#slots.set(id, Math.min(this.#slots.get(id) ?? Number.POSITIVE_INFINITY, reservationCapacity));
    }
    for (const [id, credit] of Object.entries(options.reservationCredits ?? {})) {
      const slots = this.#slots.get(id);
      if (slots !== undefined) this.#slots.set(id, slots + credit);
    }
    for (const [id, slots] of this.#slots) this.#free.set(id, slots);
  }

  /** Nothing to ask. Where reservations are not looked at, a full one is still nothing to launch from (V-65). */
  get isEmpty(): boolean {
    if (this.#mode !== "ignored") return this.#slots.size === 0;
    for (const slots of this.#slots.values()) if (slots === 0) return false;
    return true;
  }

  /** V-62, for a claim in this state with these types left that holds these reservations already. */
  outcome({ kinds }: ClaimState, catalog: Catalog, types: TypeSet, held: ReadonlySet<string>): ReservationOutcome {
    const idOf = remembered(this.#ids, catalog, () => this.#idsOf(catalog));
    const ids = new Set<string>();
    let hasSlots = false;
    let hasFull = false;
    let hasOther = false;
    for (const kind of kinds) {
      if (!hasCommon(catalog.kinds[kind]!.variants, types)) continue;
      const id = idOf[kind];
      if (id === undefined) hasOther = true;
      else if (this.#slots.get(id)! === 0) hasFull = true;
      else hasSlots = true;
      if (id !== undefined && (held.has(id) || this.#free.get(id)! > 0)) ids.add(id);
    }
    if (hasFull && !hasSlots && !hasOther) return { kind: this.#mode === "strict" ? "deferred" : "full" };
    if (this.#mode === "ignored") return FREE;
    if (this.#mode === "strict" && ids.size === 0 && (hasSlots || held.size > 0)) return { kind: "deferred" };
    return ids.size === 0 ? FREE : { kind: "free", ids };
  }

  /** S-168. */
  hold(ids: ReadonlySet<string>, before: ReadonlySet<string>): void {
    for (const id of ids) if (!before.has(id)) this.#free.set(id, this.#free.get(id)! - 1);
    for (const id of before) {
      if (ids.has(id)) continue;
      this.#free.set(id, this.#free.get(id)! + 1);
      this.version++;
    }
  }

  #idsOf(catalog: Catalog): readonly (string | undefined)[] {
    return catalog.kinds.map(({ requirements, capacityType }) => (capacityType === "reserved" ? this.#idOf(requirements) : undefined));
  }

  /** An offering without an ID is a reservation of its own. */
  #idOf(requirements: Requirements): string {
    return requirements.find(this.idLabel)?.values[0] ?? requirements.canonicalText;
  }
}

function* offeringsOf(pools: Problem["pools"]) {
  for (const instanceTypes of new Set(pools.map((pool) => pool.instanceTypes))) {
    for (const { offerings } of instanceTypes) yield* offerings.filter(({ reservationCapacity }) => reservationCapacity !== undefined);
  }
}
