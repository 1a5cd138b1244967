/** Status conditions as the CRDs admit them. Rule A-34. */
import Type from "typebox";
import { choice, int64, text, time } from "./fields.ts";

const CONDITION_TYPE = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

const common = {
  type: text("Name of the condition in CamelCase, perhaps with a domain.", { maxLength: 316, pattern: CONDITION_TYPE }),
  status: choice(["True", "False", "Unknown"], "Whether the condition holds."),
  lastTransitionTime: time("When the status last changed."),
  observedGeneration: Type.Optional(int64("The metadata.generation that the condition was set for.", { minimum: 0 })),
};
const message = text("Details for people.", { maxLength: 32768 });

const strictCondition = Type.Object({
  ...common,
  reason: text("Why, as one CamelCase word.", { minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" }),
  message,
});

/** NodeClaims may leave out or empty the reason, and leave out the message. */
const lenientCondition = Type.Object({
  ...common,
  reason: Type.Optional(text("Why, as one CamelCase word.", { maxLength: 1024, pattern: "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$" })),
  message: Type.Optional(message),
});

const byType = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] };
const description = "What is known about the object's health.";

export const conditions = () => Type.Optional(Type.Array(strictCondition, { description, ...byType }));
export const lenientConditions = () => Type.Optional(Type.Array(lenientCondition, { description, ...byType }));
/** EC2NodeClass keeps its conditions as a plain list. */
export const plainConditions = (options: object = {}) => Type.Optional(Type.Array(strictCondition, { description, ...options }));
