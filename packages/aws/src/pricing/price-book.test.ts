import { createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { AwsError } from "../ec2/aws-error.ts";
import type { SpotPrice } from "../ec2/ec2-port.ts";
import { type Stubs, stubPort } from "../ec2/stub-port.test-support.ts";
import { PriceBook } from "./price-book.ts";

const record = (InstanceType: string, zone: string, price: string, Timestamp = "2026-12-01T00:00:00Z"): SpotPrice => ({
  InstanceType,
  AvailabilityZone: zone,
  SpotPrice: price,
  Timestamp,
});
const SPOT: Stubs["describeSpotPriceHistory"] = () => ({ SpotPriceHistory: [record("m5.large", "a", "0.04")] });
const ON_DEMAND: Stubs["getOnDemandPrices"] = () => ({ prices: [{ instanceType: "m5.large", pricePerHour: 0.1 }] });

function aBook(stubs: Stubs, region = "us-east-1", isIsolatedVpc = false) {
  const { ec2, calls } = stubPort({ describeSpotPriceHistory: SPOT, getOnDemandPrices: ON_DEMAND, ...stubs });
  const known = new Map([
    ["m5.large", 0.096],
    ["c5.large", 0.085],
  ]);
  const initial = { onDemandPrice: (name: string) => known.get(name) };
  return { calls, book: new PriceBook({ ec2, clock: createVirtualClock({ startMs: 0 }), region, initial, isIsolatedVpc }) };
}

describe("before the first answer", () => {
  test("I-901, I-903: the table's prices, spot as on demand", () => {
    const { book } = aBook({});
    expect([book.onDemandPrice("m5.large"), book.spotPrice("m5.large", "z"), book.onDemandPrice("p9.large")]).toEqual([
      0.096,
      0.096,
      undefined,
    ]);
  });
});

describe("after it", () => {
  test("I-906: AWS's prices win, the others stay", async () => {
    const { book } = aBook({});
    await book.refresh();
    expect([book.onDemandPrice("m5.large"), book.onDemandPrice("c5.large")]).toEqual([0.1, 0.085]);
  });

  test("I-903, scenario 37: a zone without a spot price has none, also of other types", async () => {
    const { book } = aBook({});
    await book.refresh();
    expect([book.spotPrice("m5.large", "a"), book.spotPrice("m5.large", "b"), book.spotPrice("c5.large", "a")]).toEqual([
      0.04,
      undefined,
      undefined,
    ]);
  });

  test("I-910: the last record wins, useless ones are skipped, pages are walked, old zones stay", async () => {
    const pages = [
      {
        SpotPriceHistory: [record("m5.large", "a", "0.05"), record("m5.large", "a", "0.06"), record("m5.large", "b", "x")],
        NextToken: "2",
      },
      { SpotPriceHistory: [record("m5.large", "c", "0.07"), record("m5.large", "d", "0.08", "")] },
    ];
    const { book } = aBook({ describeSpotPriceHistory: ({ NextToken }) => pages[NextToken === undefined ? 0 : 1]! });
    await book.refresh();
    expect(["a", "b", "c", "d"].map((zone) => book.spotPrice("m5.large", zone))).toEqual([0.06, undefined, 0.07, undefined]);
  });

  test("I-904: what fails keeps its prices and is told, the other half is taken", async () => {
    const { book } = aBook({
      getOnDemandPrices() {
        throw new AwsError("AccessDenied", "no");
      },
    });
    await expect(book.refresh()).rejects.toThrow("AccessDenied");
    expect([book.onDemandPrice("m5.large"), book.spotPrice("m5.large", "a")]).toEqual([0.096, 0.04]);
  });

  test("the version moves only when something did", async () => {
    const { book } = aBook({ getOnDemandPrices: () => ({ prices: [{ instanceType: "m5.large", pricePerHour: 0.096 }] }) });
    const before = book.version;
    await book.refresh();
    expect(book.version).toBe(before + 1);
  });

  test.each([
    { region: "us-gov-east-1", isIsolated: false },
    { region: "us-east-1", isIsolated: true },
  ])("I-909: $region, isolated $isIsolated: the price list is not asked, spot is", async ({ region, isIsolated }) => {
    const { book, calls } = aBook({}, region, isIsolated);
    await book.refresh();
    expect(calls.map(({ name }) => name)).toEqual(["describeSpotPriceHistory"]);
  });
});
