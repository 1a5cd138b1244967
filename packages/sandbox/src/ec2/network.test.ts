/** Addresses of a subnet. */
import { expect, test } from "vitest";
import { Network } from "./network.ts";

test("an address that was given back is the last to be taken again, and none is taken twice", () => {
  const network = new Network([], []);
  network.addSubnet({ zone: { name: "us-east-1a", id: "use1-az1" }, id: "subnet-a", tags: [], size: 3 });
  const take = () => network.takeAddress("subnet-a");
  expect([take(), take()]).toEqual(["10.0.0.4", "10.0.0.5"]);
  network.giveBack("subnet-a", "10.0.0.4");
  expect([take(), take()]).toEqual(["10.0.0.6", "10.0.0.4"]);
  expect(network.free("subnet-a")).toBe(0);
  network.giveBack("subnet-a", "10.0.0.6");
  expect(take()).toBe("10.0.0.6");
});
