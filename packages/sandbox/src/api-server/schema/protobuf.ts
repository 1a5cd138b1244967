/**
 * Reads Kubernetes' protobuf bodies, which kubectl's typed commands (create, drain, auth) send. Answers are JSON, which they take as well.
 * The envelope is four magic bytes and a `runtime.Unknown` with the kind and the message.
 */
import type { Json, JsonObject } from "../objects/json.ts";
import { kinds } from "./kubernetes-types.generated.ts";
import { messages } from "./protobuf.generated.ts";
import { shapeOfType } from "./shape.ts";

const magic = [0x6b, 0x38, 0x73, 0x00];

/** The object as JSON. Throws an `Error` when the bytes are no such thing. */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!magic.every((byte, index) => bytes[index] === byte)) throw new Error("no Kubernetes protobuf: the first bytes are wrong");
  const envelope = fieldsOf(bytes.subarray(4));
  const meta = fieldsOf(bytesOf(envelope.get(1)?.[0]));
  const apiVersion = textOf(bytesOf(meta.get(1)?.[0]));
  const kind = textOf(bytesOf(meta.get(2)?.[0]));
  const type = typeOf(apiVersion, kind);
  if (type === undefined) throw new Error(`no protobuf form is known for ${apiVersion} ${kind}`);
  return { apiVersion, kind, ...readMessage(type, bytesOf(envelope.get(2)?.[0])) };
}

function typeOf(apiVersion: string, kind: string): string | undefined {
  if (kind === "DeleteOptions") return "meta.v1.DeleteOptions";
  const known = kinds[`${apiVersion}/${kind}`];
  if (known !== undefined) return known;
  const group = apiVersion.split("/")[0]?.split(".")[0] ?? "";
  const name = `${group}.${apiVersion.split("/")[1] ?? ""}.${kind}`;
  return messages[name] === undefined ? undefined : name;
}

type Raw = number | Uint8Array;

/** Field number to the raw values under it, in order. */
function fieldsOf(bytes: Uint8Array): Map<number, Raw[]> {
  const fields = new Map<number, Raw[]>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("protobuf ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    switch (tag & 7) {
      case 0:
        values.push(Number(BigInt.asIntN(64, varint())));
        break;
      case 1:
        values.push(view.getFloat64(at, true));
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > bytes.length) throw new Error("protobuf ends in the middle of a field");
        values.push(bytes.subarray(at, at + length));
        at += length;
        break;
      }
      default:
        throw new Error(`protobuf wire type ${tag & 7} is not known`);
    }
  }
  return fields;
}

interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly type: string;
}

const read = new Map<string, readonly ProtoField[]>();

function fieldsOfType(type: string): readonly ProtoField[] {
  const known = read.get(type);
  if (known !== undefined) return known;
  const fields = (messages[type] ?? "")
    .split(" ")
    .filter((text) => text !== "")
    .map((text) => {
      const [name = "", number = "0", fieldType = ""] = text.split(":");
      return { name, number: Number(number), type: fieldType };
    });
  read.set(type, fields);
  return fields;
}

function readMessage(type: string, bytes: Uint8Array, jsonType = type): JsonObject {
  const raw = fieldsOf(bytes);
  const shape = shapeOfType(jsonType);
  const known = shape.kind === "object" ? shape.fields : undefined;
  const object: JsonObject = {};
  for (const { name, number, type: fieldType } of fieldsOfType(type)) {
    const values = raw.get(number);
    if (values === undefined) continue;
    // Go embeds some messages into others; in JSON their fields stand in the outer object.
    if (known !== undefined && !known.has(name) && fieldType.startsWith("@"))
      Object.assign(object, readMessage(fieldType.slice(1), bytesOf(values.at(-1)), jsonType));
    else setField(object, name, fieldType, values);
  }
  return object;
}

/** Go's protobuf writes empty texts, and zeroes of fields that JSON leaves out (marked `-`). Zeroes behind pointers were meant. */
function setField(object: JsonObject, name: string, type: string, values: readonly Raw[]): void {
  if (type.startsWith("[]")) {
    object[name] = values.map((value) => readValue(type.slice(2), value));
    return;
  }
  if (type.startsWith("{}")) {
    const map: JsonObject = {};
    for (const entry of values) {
      const fields = fieldsOf(bytesOf(entry));
      const value = fields.get(2)?.[0];
      map[textOf(bytesOf(fields.get(1)?.[0]))] = value === undefined ? "" : readValue(type.slice(2), value);
    }
    object[name] = map;
    return;
  }
  const isLeftOut = type.endsWith("-");
  const value = readValue(isLeftOut ? type.slice(0, -1) : type, values.at(-1) as Raw);
  if (value === null || value === "" || (isLeftOut && (value === 0 || value === false))) return;
  object[name] = value;
}

function readValue(type: string, raw: Raw): Json {
  switch (type) {
    case "s":
      return textOf(bytesOf(raw));
    case "y":
      return Buffer.from(bytesOf(raw)).toString("base64");
    case "b":
      return raw !== 0;
    case "i":
    case "d":
      return typeof raw === "number" ? raw : 0;
    case "q":
      return textOf(bytesOf(fieldsOf(bytesOf(raw)).get(1)?.[0]));
    case "o": {
      const fields = fieldsOf(bytesOf(raw));
      return fields.get(1)?.[0] === 1 ? textOf(bytesOf(fields.get(3)?.[0])) : Number(fields.get(2)?.[0] ?? 0);
    }
    case "t": {
      const fields = fieldsOf(bytesOf(raw));
      const seconds = fields.get(1)?.[0];
      if (typeof seconds !== "number" || seconds <= 0) return null;
      // The decoder keeps what of it the field's type has room for.
      const micros = String(Math.trunc(Number(fields.get(2)?.[0] ?? 0) / 1000)).padStart(6, "0");
      return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${micros}Z`;
    }
    case "x": {
      const text = textOf(bytesOf(fieldsOf(bytesOf(raw)).get(1)?.[0]));
      return text === "" ? null : (JSON.parse(text) as Json);
    }
    default:
      return readMessage(type.slice(1), bytesOf(raw));
  }
}

function bytesOf(raw: Raw | undefined): Uint8Array {
  return raw instanceof Uint8Array ? raw : new Uint8Array();
}

const decoder = new TextDecoder();

function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
