/** CapacityBuffer: room that is kept free for pods to come. Rules A-58…A-62. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { conditions } from "./condition.ts";
import { type Frozen, int32, int64, resources, rules, text } from "./fields.ts";

const podTemplateRef = Type.Object(
  { name: text("Name of a PodTemplate in the same namespace.", { minLength: 1 }) },
  { description: "The pod that room is kept for." },
);
const scalableRef = Type.Object(
  {
    apiGroup: Type.Optional(text("API group of the workload; empty = `apps`.")),
    kind: text("Kind of the workload.", { minLength: 1 }),
    name: text("Name of the workload.", { minLength: 1 }),
  },
  { description: "The workload whose pods room is kept for." },
);

const spec = Type.Object(
  {
    provisioningStrategy: Type.Optional(text("How room is kept.", { default: "buffer.x-k8s.io/active-capacity" })),
    podTemplateRef: Type.Optional(podTemplateRef),
    scalableRef: Type.Optional(scalableRef),
    replicas: Type.Optional(int32("Room for this many pods.", { minimum: 0 })),
    percentage: Type.Optional(int32("Room for this part of the workload's replicas.", { minimum: 0 })),
    limits: Type.Optional(resources("The most that the buffer may take.")),
  },
  {
    description: "What room is kept.",
    ...rules(
      {
        rule: "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
        message: "with 'podTemplateRef', 'replicas' or 'limits' must be set",
      },
      { rule: "!has(self.podTemplateRef) || !has(self.scalableRef)", message: "cannot set both 'podTemplateRef' and 'scalableRef'" },
    ),
  },
);

const status = Type.Object(
  {
    podTemplateRef: Type.Optional(podTemplateRef),
    podTemplateGeneration: Type.Optional(int64("The generation of the PodTemplate that was read.")),
    replicas: Type.Optional(int32("How many pods room is kept for.")),
    provisioningStrategy: Type.Optional(text("How room is kept.")),
    conditions: conditions(),
  },
  { description: "What became of the buffer." },
);

export const capacityBufferSchema = Type.Object(
  { spec, status: Type.Optional(status) },
  { description: "CapacityBuffer keeps room for pods that may come." },
);

export type CapacityBuffer = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof capacityBufferSchema>
>;
