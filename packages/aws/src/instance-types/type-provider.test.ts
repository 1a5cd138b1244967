import type { Ec2NodeClass } from "@joinery/api";
import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { loadEc2Catalogue } from "../catalogue/ec2-catalogue.ts";
import { stubPort } from "../ec2/stub-port.test-support.ts";
import { PriceBook } from "../pricing/price-book.ts";
import { TypeProvider } from "./type-provider.ts";
import { UnavailableOfferings } from "./unavailable-offerings.ts";

async function aProvider(): Promise<TypeProvider> {
  const { types, tables, onDemandPrice } = await loadEc2Catalogue();
  const clock = createVirtualClock({ startMs: 0 });
  const { ec2 } = stubPort({
    describeInstanceTypes: () => ({ InstanceTypes: types.filter(({ InstanceType }) => InstanceType.startsWith("m5.")) }),
    describeInstanceTypeOfferings: () => ({ InstanceTypeOfferings: [{ InstanceType: "m5.large", Location: "us-east-1a" }] }),
  });
  const region = "us-east-1";
  const prices = new PriceBook({ ec2, clock, region, initial: { onDemandPrice }, isIsolatedVpc: false });
  const unavailable = new UnavailableOfferings(clock);
  return new TypeProvider({ ec2, clock, region, tables, prices, unavailable, vmMemoryOverheadPercent: 0.075, reservedEnis: 0 });
}

const withSubnets = (...ids: string[]): Ec2NodeClass => ({
  metadata: { name: "default" },
  spec: {
    role: "node",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { a: "b" } }],
    securityGroupSelectorTerms: [{ tags: { a: "b" } }],
  },
  status: { subnets: ids.map((id) => ({ id, zone: "us-east-1a", zoneID: "use1-az6" })) },
});

test("I-203: types do not depend on which subnet of a zone has more addresses free", async () => {
  const provider = await aProvider();
  const first = await provider.list(withSubnets("subnet-1", "subnet-2"));
  expect(await provider.list(withSubnets("subnet-2", "subnet-1"))).toBe(first);
  expect(await provider.list(withSubnets("subnet-2"))).not.toBe(first);
});
