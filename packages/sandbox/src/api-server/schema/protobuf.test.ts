/** Bodies as Go's clients encode them. */
import { expect, test } from "vitest";
import { decodeProtobuf } from "./protobuf.ts";

const text = (value: string) => [...new TextEncoder().encode(value)];
const field = (number: number, bytes: readonly number[]) => [(number << 3) | 2, bytes.length, ...bytes];
const whole = (number: number, value: number) => [number << 3, value];
const body = (apiVersion: string, kind: string, message: readonly number[]) =>
  new Uint8Array([...text("k8s\0"), ...field(1, [...field(1, text(apiVersion)), ...field(2, text(kind))]), ...field(2, message)]);

test.each([
  {
    what: "maps, bytes, and empty texts that mean nothing",
    bytes: body("v1", "Secret", [
      ...field(1, [...field(1, text("s")), ...field(2, []), ...field(3, []), ...field(8, [])]),
      ...field(2, [...field(1, text("a")), ...field(2, text("b"))]),
      ...field(3, text("Opaque")),
    ]),
    json: { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "Yg==" }, type: "Opaque" },
  },
  {
    what: "a zero behind a pointer, which was meant",
    bytes: body("policy/v1", "Eviction", [...field(1, field(1, text("p"))), ...field(2, whole(1, 0))]),
    json: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" }, deleteOptions: { gracePeriodSeconds: 0 } },
  },
  {
    what: "zeroes that JSON leaves out, and messages that Go embeds",
    bytes: body("v1", "Pod", [
      ...field(1, field(1, text("p"))),
      ...field(2, [...field(1, [...field(1, text("v")), ...field(2, field(2, []))]), ...whole(11, 0), ...field(3, text("Never"))]),
    ]),
    json: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { volumes: [{ name: "v", emptyDir: {} }], restartPolicy: "Never" },
    },
  },
  {
    what: "a number or a text",
    bytes: body(
      "policy/v1",
      "PodDisruptionBudget",
      field(2, [
        ...field(1, [...whole(1, 1), ...whole(2, 0), ...field(3, text("50%"))]),
        ...field(3, [...whole(1, 0), ...whole(2, 2), ...field(3, [])]),
      ]),
    ),
    json: { apiVersion: "policy/v1", kind: "PodDisruptionBudget", spec: { minAvailable: "50%", maxUnavailable: 2 } },
  },
])("$what", ({ bytes, json }) => {
  expect(decodeProtobuf(bytes)).toEqual(json);
});

test.each([
  { what: "no magic", bytes: new Uint8Array([1, 2, 3, 4]), error: /the first bytes are wrong/ },
  { what: "an unknown kind", bytes: body("v1", "Nothing", []), error: /no protobuf form is known for v1 Nothing/ },
  { what: "a cut body", bytes: body("v1", "Secret", field(1, text("abc"))).subarray(0, 22), error: /ends in the middle/ },
])("refused: $what", ({ bytes, error }) => {
  expect(() => decodeProtobuf(bytes)).toThrow(error);
});
