/** NodeOverlay: corrections to prices and capacities of instance types. Rules A-45…A-51. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { conditions } from "./condition.ts";
import { type Frozen, int32, resources, rules, text } from "./fields.ts";
import { nodeOverlayRequirements } from "./requirement.ts";

const spec = Type.Object(
  {
    requirements: nodeOverlayRequirements,
    price: Type.Optional(text("The price per hour to reckon with.", { pattern: "^\\d+(\\.\\d+)?$" })),
    priceAdjustment: Type.Optional(
      text("A change of the price with its sign, absolute (`+0.5`) or relative (`-10%`).", {
        pattern: "^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$",
      }),
    ),
    capacity: Type.Optional(
      resources("Extended resources that the nodes have besides.", {
        ...rules({
          rule: "self.all(name, !(name in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",
          message: "cpu, memory, ephemeral-storage and pods cannot be changed by an overlay",
        }),
      }),
    ),
    weight: Type.Optional(int32("Overlays with a greater weight win.", { minimum: 1, maximum: 10000 })),
  },
  {
    description: "What the overlay changes.",
    ...rules({ rule: "!has(self.price) || !has(self.priceAdjustment)", message: "cannot set both 'price' and 'priceAdjustment'" }),
  },
);

export const nodeOverlaySchema = Type.Object(
  { spec, status: Type.Optional(Type.Object({ conditions: conditions() }, { description: "What became of the overlay." })) },
  { description: "NodeOverlay changes the prices or capacities that Joinery reckons with." },
);

export type NodeOverlay = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof nodeOverlaySchema>
>;
