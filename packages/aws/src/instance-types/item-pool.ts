/** Equal requirement items are one object: 1,400 types have 45,000 items, and 3,000 different ones. */
import { CAPACITY_TYPE_LABEL, ZONE_ID_LABEL, ZONE_LABEL } from "@joinery/api";
import type { RequirementItem } from "@joinery/scheduling";
import type { Zone } from "../catalogue/ec2-catalogue.ts";

/** One value, several values, or undefined: the label must not exist. */
export type LabelValue = string | readonly string[] | undefined;

export class ItemPool {
  readonly #items = new Map<string, RequirementItem>();
  readonly #offerings = new Map<string, readonly RequirementItem[]>();

  item(key: string, value: LabelValue): RequirementItem {
    const name = `${key}\n${value === undefined ? "\n" : value}`;
    const known = this.#items.get(name);
    if (known !== undefined) return known;
    const item: RequirementItem =
      value === undefined
        ? { key, operator: "DoesNotExist" }
        : { key, operator: "In", values: typeof value === "string" ? [value] : value };
    this.#items.set(name, item);
    return item;
  }

  /** I-801: of a spot or on-demand offering. */
  offering(capacityType: string, zone: Zone): readonly RequirementItem[] {
    const name = `${capacityType}\n${zone.name}\n${zone.id}`;
    const known = this.#offerings.get(name);
    if (known !== undefined) return known;
    const items = [
      this.item(CAPACITY_TYPE_LABEL, capacityType),
      this.item(ZONE_LABEL, zone.name),
      ...(zone.id === "" ? [] : [this.item(ZONE_ID_LABEL, zone.id)]),
      ...["id", "interruptible", "type"].map((suffix) => this.item(`karpenter.k8s.aws/capacity-reservation-${suffix}`, undefined)),
    ];
    this.#offerings.set(name, items);
    return items;
  }
}
