/** KWOKNodeClass: settings of the provider that makes nodes without machines. Section 8 of the API's rules. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { plainConditions } from "./condition.ts";
import { duration, type Frozen } from "./fields.ts";

const READY = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2024-01-01T01:01:01Z" };

const spec = Type.Object(
  { nodeRegistrationDelay: Type.Optional(duration("How long a node takes to appear.")) },
  { description: "How the nodes behave." },
);
const status = Type.Object(
  { conditions: plainConditions() },
  { description: "Ready from the start: there is nothing to resolve.", default: { conditions: [READY] } },
);

export const kwokNodeClassSchema = Type.Object(
  { spec: Type.Optional(spec), status: Type.Optional(status) },
  { description: "KWOKNodeClass holds the settings for nodes without machines." },
);

export type KwokNodeClass = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof kwokNodeClassSchema>
>;
