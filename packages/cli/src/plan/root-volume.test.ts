import type { Ec2NodeClass } from "@joinery/api";
import { expect, test } from "vitest";
import { volumesUsdPerHour } from "./root-volume.ts";

const nodeClass = (blockDeviceMappings?: unknown) => ({ spec: { blockDeviceMappings } }) as unknown as Ec2NodeClass;

test.each([
  { name: "nothing said", mappings: undefined, price: undefined },
  { name: "no sizes", mappings: [{ deviceName: "/dev/xvda", ebs: { snapshotID: "snap-1" } }], price: undefined },
  { name: "one volume", mappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "73Gi" } }], price: 0.008 },
  { name: "two", mappings: [{ ebs: { volumeSize: "4Gi" } }, { ebs: { volumeSize: "69Gi" } }], price: 0.008 },
])("volumes of a node class, USD per hour: $name", ({ mappings, price }) => {
  const found = volumesUsdPerHour(nodeClass(mappings));
  if (price === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(price, 9);
});
