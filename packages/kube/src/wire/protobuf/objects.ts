/**
 * Answers of an API server in its protobuf encoding: lists, watch events and Status objects. Built-in kinds come so where the server is asked for it;
 * an answer in JSON is as good, which is what custom resources and other servers give.
 */
import { type Kind, type KubeObject, Nodes, Pods } from "@joinery/api";
import type { StatusBody, StatusDetails } from "../errors.ts";
import { TransportError } from "../errors.ts";
import { integer, Message, optionalInteger, part, parts, text } from "./message.ts";
import { node, nodeOutline, pod, podOutline } from "./pods-and-nodes.ts";
import { BYTES, WireReader } from "./wire-reader.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** What stands before every object: `k8s` and a zero. */
const MAGIC = [0x6b, 0x38, 0x73, 0];
/** Field 2 of `runtime.Unknown` holds the object, after its type. */
const RAW_TAG = (2 << 3) | BYTES;

/** As JSON gives it. */
export interface ListBody<T> {
  readonly items?: Iterable<T> | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
}

interface Readable<out T> {
  read(reader: WireReader, end: number): T;
}

const messages: ReadonlyMap<Kind, Readable<KubeObject>> = new Map<Kind, Readable<KubeObject>>([
  [Pods, pod],
  [Nodes, node],
]);

/** Without status. */
const outlines: ReadonlyMap<Kind, Readable<KubeObject>> = new Map<Kind, Readable<KubeObject>>([
  [Pods, podOutline],
  [Nodes, nodeOutline],
]);

const listMeta = new Message<NonNullable<ListBody<unknown>["metadata"]>>({
  resourceVersion: text(2),
  continue: text(3),
  remainingItemCount: optionalInteger(4),
});

type Cause = NonNullable<StatusDetails["causes"]>[number];
const cause = new Message<Cause>({ reason: text(1), message: text(2), field: text(3) });
const statusDetails = new Message<StatusDetails>({
  name: text(1),
  group: text(2),
  kind: text(3),
  uid: text(6),
  causes: parts(4, cause),
  retryAfterSeconds: integer(5),
});
const status = new Message<Omit<StatusBody, "kind" | "apiVersion">>({
  status: text(2),
  message: text(3),
  reason: text(4),
  details: part(5, statusDetails),
  code: integer(6),
});

/** Whether objects of the kind can be read in this encoding. */
export function isInProtobuf(kind: Kind): boolean {
  return messages.has(kind);
}

/**
 * A page of a list: its metadata at once, its items as they are asked for; then comes `onEnd`, and the bytes are not read any more. Both throw
 * `TransportError` for what cannot be read.
 */
export function readPage<T extends KubeObject>(
  kind: Kind<T>,
  bytes: Uint8Array,
  { isOutline = false, onEnd = () => {} }: { readonly isOutline?: boolean; readonly onEnd?: () => void } = {},
): ListBody<T> {
  const subject = `a list of ${kind.resource}`;
  const message = (isOutline ? outlines : messages).get(kind) as Readable<T> | undefined;
  return guarded(subject, () => {
    if (message === undefined) throw new RangeError(UNASKED);
    const reader = new WireReader(bytes);
    const end = rawObject(reader);
    const start = reader.position;
    let metadata: ListBody<T>["metadata"] = {};
    while (reader.position < end) {
      const tag = reader.small();
      if (tag === LIST_META_TAG) metadata = listMeta.read(reader, reader.partEnd());
      else reader.skip(tag & 7);
    }
    if (reader.position !== end) throw new RangeError("its last item reaches beyond its end");
    reader.position = start;
    return { metadata, items: itemsOf(message, reader, end, subject, onEnd) };
  });
}

function* itemsOf<T>(message: Readable<T>, reader: WireReader, end: number, subject: string, onEnd: () => void): Generator<T> {
  try {
    while (reader.position < end) {
      const tag = reader.small();
      if (tag === ITEM_TAG) yield guarded(subject, () => message.read(reader, reader.partEnd()));
      else reader.skip(tag & 7);
    }
  } finally {
    onEnd();
  }
}

const LIST_META_TAG = (1 << 3) | BYTES;
const ITEM_TAG = (2 << 3) | BYTES;
const UNASKED = "nobody asked for this kind in this encoding";

export function readStatus(bytes: Uint8Array): StatusBody {
  return { kind: "Status", apiVersion: "v1", ...readWith(status, bytes, "a Status") };
}

/** `{ type, object }`, as a line of a watch in JSON has it. */
export function readWatchEvent(kind: Kind, frame: Uint8Array): { readonly type: string; readonly object: KubeObject | StatusBody } {
  const reader = new WireReader(frame);
  let type = "";
  let object: Uint8Array = new Uint8Array();
  while (reader.position < reader.length) {
    const tag = reader.small();
    if (tag === TYPE_TAG) type = reader.text();
    else if (tag === OBJECT_TAG) object = rawExtension(reader);
    else reader.skip(tag & 7);
  }
  return { type, object: type === "ERROR" ? readStatus(object) : readWith(messages.get(kind), object, `an event of ${kind.resource}`) };
}

const TYPE_TAG = (1 << 3) | BYTES;
const OBJECT_TAG = (2 << 3) | BYTES;
const EXTENSION_TAG = (1 << 3) | BYTES;

function rawExtension(reader: WireReader): Uint8Array {
  const end = reader.partEnd();
  let raw: Uint8Array = new Uint8Array();
  while (reader.position < end) {
    const tag = reader.small();
    if (tag === EXTENSION_TAG) raw = reader.bytes();
    else reader.skip(tag & 7);
  }
  return raw;
}

function readWith<T>(message: Readable<T> | undefined, bytes: Uint8Array, subject: string): T {
  return guarded(subject, () => {
    if (message === undefined) throw new RangeError(UNASKED);
    const reader = new WireReader(bytes);
    return message.read(reader, rawObject(reader));
  });
}

/** Puts the reader at the object behind the magic bytes and the type, and gives its end. */
function rawObject(reader: WireReader): number {
  for (const byte of MAGIC)
    if (reader.position >= reader.length || reader.byte() !== byte) throw new RangeError("it does not begin with k8s\\0");
  while (reader.position < reader.length) {
    const tag = reader.small();
    if (tag === RAW_TAG) return reader.partEnd();
    reader.skip(tag & 7);
  }
  throw new RangeError("there is no object in it");
}

function guarded<T>(subject: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TransportError("malformed", `Cannot read ${subject}: ${error.message}`, error);
  }
}
