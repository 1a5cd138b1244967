import { createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { AwsError } from "../ec2/aws-error.ts";
import type { Image } from "../ec2/ec2-port.ts";
import { type Stubs, stubPort } from "../ec2/stub-port.test-support.ts";
import { ImageResolver } from "./images.ts";

const NOW = Date.parse("2026-12-01T00:00:00Z");
const anImage = (changes: Partial<Image> = {}): Image => ({
  ImageId: "ami-1",
  Name: "one",
  Architecture: "x86_64",
  CreationDate: "2026-11-01T00:00:00Z",
  ...changes,
});

function aResolver(images: readonly Image[], stubs: Stubs = {}) {
  const clock = createVirtualClock({ startMs: NOW });
  const { ec2, calls } = stubPort({
    describeImages: ({ Filters = [] }) => {
      const ids = Filters.find(({ Name }) => Name === "image-id")?.Values;
      return { Images: images.filter(({ ImageId }) => ids === undefined || ids.includes(ImageId)) };
    },
    getParameter: ({ Name }) => ({
      Parameter: {
        Name,
        Value: `ami-${Name.includes("arm64") ? "arm" : "x86"}-${/standard|nvidia|neuron|gpu/.exec(Name)?.[0] ?? "standard"}`,
      },
    }),
    ...stubs,
  });
  return { resolver: new ImageResolver({ ec2, clock }), calls, clock };
}

const found = async (resolver: ImageResolver, terms: Parameters<ImageResolver["resolve"]>[0], version = "1.37") => {
  const outcome = await resolver.resolve(terms, version);
  return outcome.kind === "found" ? outcome.images : [];
};

describe("aliases", () => {
  const images = ["x86-standard", "x86-nvidia", "x86-neuron", "arm-standard", "arm-nvidia"].map((name) =>
    anImage({ ImageId: `ami-${name}`, Name: name, Architecture: name.startsWith("arm") ? "arm64" : "x86_64" }),
  );

  test("I-1208, scenario 40: al2023@latest gives five images, each for its nodes", async () => {
    const { resolver } = aResolver(images);
    const amis = await found(resolver, [{ alias: "al2023@latest" }]);
    expect(
      Object.fromEntries(
        amis.map(({ id, requirements }) => [id, requirements.map(({ key, operator }) => `${key.split("/")[1]} ${operator}`)]),
      ),
    ).toEqual({
      "ami-arm-nvidia": ["arch In", "instance-gpu-count Exists"],
      "ami-arm-standard": ["arch In", "instance-gpu-count DoesNotExist", "instance-accelerator-count DoesNotExist"],
      "ami-x86-neuron": ["arch In", "instance-accelerator-count Exists"],
      "ami-x86-nvidia": ["arch In", "instance-gpu-count Exists"],
      "ami-x86-standard": ["arch In", "instance-gpu-count DoesNotExist", "instance-accelerator-count DoesNotExist"],
    });
  });

  test("I-1206: a pinned version asks for its own parameters, and I-1210 asks once a day", async () => {
    const { resolver, calls, clock } = aResolver(images);
    await found(resolver, [{ alias: "al2023@v20261101" }]);
    await found(resolver, [{ alias: "al2023@v20261101" }]);
    const asked = calls.filter(({ name }) => name === "getParameter").map(({ request }) => (request as { Name: string }).Name);
    expect(asked).toHaveLength(5);
    expect(asked[0]).toBe(
      "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.37-v20261101/image_id",
    );
    await clock.advance(86_400_000);
    await found(resolver, [{ alias: "al2023@v20261101" }]);
    expect(calls.filter(({ name }) => name === "getParameter")).toHaveLength(10);
  });

  test("I-1207: parameters that fail are skipped, unless all do", async () => {
    const missing =
      (isMissing: (name: string) => boolean): Stubs["getParameter"] =>
      ({ Name }) => {
        if (isMissing(Name)) throw new AwsError("ParameterNotFound", Name);
        return { Parameter: { Name, Value: "ami-x86-standard" } };
      };
    expect(
      await found(aResolver(images, { getParameter: missing((name) => !name.includes("x86_64/standard")) }).resolver, [
        { alias: "al2023@latest" },
      ]),
    ).toHaveLength(1);
    await expect(
      aResolver(images, { getParameter: missing(() => true) }).resolver.resolve([{ alias: "al2023@latest" }], "1.37"),
    ).rejects.toThrow("ParameterNotFound");
  });

  test.each([
    { alias: "al2@latest", version: "1.33", kind: "unsupported-alias" },
    { alias: "al2@latest", version: "1.32", kind: "found" },
    { alias: "windows2025@latest", version: "1.34", kind: "unsupported-alias" },
    { alias: "al2023@v1@2", version: "1.37", kind: "unsupported-alias" },
  ])("I-1209, A-73: $alias on $version is $kind", async ({ alias, version, kind }) => {
    const some = [...images, anImage({ ImageId: "ami-x86-gpu" })];
    expect((await aResolver(some).resolver.resolve([{ alias }], version)).kind).toBe(kind);
  });
});

describe("terms", () => {
  test("I-1203, scenario 44: IDs in one query without owners; names of self and amazon; tags of anyone", async () => {
    const { resolver, calls } = aResolver([]);
    await resolver.resolve(
      [{ id: "ami-1" }, { id: "ami-2" }, { name: "mine-*" }, { name: "x", owner: "123" }, { tags: { team: "a", any: "*" } }],
      "1.37",
    );
    const state = { Name: "state", Values: ["available"] };
    expect(calls.map(({ request }) => request)).toEqual([
      { Filters: [{ Name: "name", Values: ["mine-*"] }, state], Owners: ["self", "amazon"], IncludeDeprecated: true, MaxResults: 1000 },
      { Filters: [{ Name: "name", Values: ["x"] }, state], Owners: ["123"], IncludeDeprecated: true, MaxResults: 1000 },
      {
        Filters: [{ Name: "tag:team", Values: ["a"] }, { Name: "tag-key", Values: ["any"] }, state],
        IncludeDeprecated: true,
        MaxResults: 1000,
      },
      { Filters: [{ Name: "image-id", Values: ["ami-1", "ami-2"] }, state], IncludeDeprecated: true, MaxResults: 1000 },
    ]);
  });

  test.each([
    { answer: "ami-1", ids: ["ami-1"] },
    { answer: "nothing", ids: [] },
    { answer: new AwsError("ParameterNotFound", "x"), ids: [] },
  ])("I-1205: a parameter that holds $answer", async ({ answer, ids }) => {
    const { resolver } = aResolver([anImage()], {
      getParameter({ Name }) {
        if (answer instanceof Error) throw answer;
        return { Parameter: { Name, Value: String(answer) } };
      },
    });
    expect((await found(resolver, [{ ssmParameter: "/mine" }])).map(({ id }) => id)).toEqual(ids);
  });
});

test.each([
  { rule: "newer", other: { CreationDate: "2026-11-02T00:00:00Z" }, best: "ami-2" },
  { rule: "older", other: { CreationDate: "2026-10-02T00:00:00Z" }, best: "ami-1" },
  { rule: "newer but deprecated", other: { CreationDate: "2026-11-02T00:00:00Z", DeprecationTime: "2026-11-30T00:00:00Z" }, best: "ami-1" },
  {
    rule: "newer, deprecated tomorrow",
    other: { CreationDate: "2026-11-02T00:00:00Z", DeprecationTime: "2026-12-02T00:00:00Z" },
    best: "ami-2",
  },
  { rule: "equal, greater name", other: { Name: "zwei" }, best: "ami-2" },
  { rule: "a date that is none", other: { CreationDate: "soon" }, best: "ami-1" },
  {
    rule: "another architecture that nobody knows",
    other: { Architecture: "newnew", CreationDate: "2026-11-02T00:00:00Z" },
    best: "ami-1",
  },
])("I-1213, scenarios 42, 43, 45: $rule → $best", async ({ other, best }) => {
  const { resolver } = aResolver([anImage(), anImage({ ImageId: "ami-2", Name: "two", ...other })]);
  expect((await found(resolver, [{ tags: { a: "b" } }])).map(({ id }) => id)).toEqual([best]);
});
