/** The structure of a custom resource's schema, for merging in server-side apply. */
import { isObject, type JsonObject, listAt, objectAt, textAt } from "../objects/json.ts";
import { anyShape, type Field, type ListType, type Shape, shapeOfType } from "./shape.ts";

export function shapeOfSchema(schema: JsonObject): Shape {
  const shape = shapeOf(schema);
  if (shape.kind !== "object") return anyShape;
  const fields = new Map(shape.fields);
  fields.set("metadata", plain(shapeOfType("meta.v1.ObjectMeta")));
  return { ...shape, fields };
}

function shapeOf(schema: JsonObject): Shape {
  if (schema["x-kubernetes-int-or-string"] === true) return { kind: "int-or-string" };
  const isAtomic = textAt(schema, "x-kubernetes-map-type") === "atomic";
  switch (textAt(schema, "type")) {
    case "object":
      return objectShape(schema, isAtomic);
    case "array":
      return {
        kind: "list",
        item: shapeOf(objectAt(schema, "items") ?? {}),
        listType: (textAt(schema, "x-kubernetes-list-type") ?? "atomic") as ListType,
        keys: listAt(schema, "x-kubernetes-list-map-keys").map(String),
      };
    case "integer":
      return { kind: "integer" };
    case "number":
      return { kind: "number" };
    case "boolean":
      return { kind: "boolean" };
    case "string":
      return { kind: "string" };
    default:
      return anyShape;
  }
}

function objectShape(schema: JsonObject, isAtomic: boolean): Shape {
  const values = schema.additionalProperties;
  if (isObject(values)) return { kind: "map", value: shapeOf(values), isAtomic };
  const fields = new Map(
    Object.entries(objectAt(schema, "properties") ?? {}).map(([key, member]) => [key, plain(shapeOf(isObject(member) ? member : {}))]),
  );
  return { kind: "object", fields, isAtomic };
}

function plain(shape: Shape): Field {
  return { shape, isRequired: false, retainsKeys: false };
}
