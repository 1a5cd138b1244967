/** Section "Test scenarios" of the API chapter, as far as admission decides about Karpenter's own kinds. */
import { type AdmissionCase, collectCases } from "./admission-desk.test-support.ts";
import { aCapacityBuffer, aNodeClaim, aNodeOverlay, aNodePool, aPoolOf } from "./examples.ts";

const requirement = (key: string, operator: string, values?: readonly unknown[], minValues?: number) => ({
  key,
  operator,
  ...(values && { values }),
  ...(minValues !== undefined && { minValues }),
});
const everyKind = (...requirements: object[]) =>
  [
    ["NodePool", aPoolOf({ requirements })],
    ["NodeClaim", aNodeClaim({ requirements })],
    ["NodeOverlay", aNodeOverlay({ requirements })],
  ] as const;
const budget = (...budgets: object[]) => aNodePool({ disruption: { budgets } });
const labelled = (labels: object) => aPoolOf({}, { labels });
const ZONE = "topology.kubernetes.io/zone";

export const CORE_CASES: readonly AdmissionCase[] = collectCases(({ about, each, accepts, refuses }) => {
  about("scenario 2, A-3, A-4: durations", () => {
    each(["30s", "1h30m5s", "Never", "5m5m", "0s"], "%s", (expireAfter) => {
      accepts(aPoolOf({ expireAfter }));
      accepts(aNodeClaim({ expireAfter }));
    });
    each(["-1s", "1hr", "FooNever", "1.5h", "100ms", "10", "", "never"], "not %j", (expireAfter) => {
      refuses(aPoolOf({ expireAfter }), /expireAfter: Invalid value/);
      refuses(aNodeClaim({ expireAfter }), /expireAfter: Invalid value/);
    });
    about("no Never for terminationGracePeriod", () => {
      refuses(aPoolOf({ terminationGracePeriod: "Never" }), /terminationGracePeriod/);
      refuses(aNodeClaim({ terminationGracePeriod: "Never" }), /terminationGracePeriod/);
      accepts(aPoolOf({ terminationGracePeriod: "48h" }));
    });
  });

  each(["balanced", "whenempty", "WhenUnderutilized", "", "1"], "scenario 4, A-9: policy %j", (consolidationPolicy) => {
    refuses(aNodePool({ disruption: { consolidationPolicy } }), /consolidationPolicy: Unsupported value/);
    accepts(aNodePool({ disruption: { consolidationPolicy: "Balanced", consolidateAfter: "Never" } }));
  });

  about("budgets: A-17, A-146, A-148, A-149, A-151, V-1", () => {
    each(
      [
        ["scenario 5: with duration", { nodes: "10", schedule: "* * * * *", duration: "20m" }],
        ["scenario 6: reasons", { reasons: ["Drifted", "Empty", "Unhealthy"] }],
        ...["20m", "2h", "2h20m", "2h20m0s", "20m0s", "90m", "0m"].map(
          (duration) => [duration, { schedule: "@daily", duration }] as [string, object],
        ),
        ...["0", "10", "0%", "05%", "100%", "99999999999"].map((nodes) => [nodes, { nodes }] as [string, object]),
        ...["@annuallyfoo", "@daily x", "foo bar baz qux quux", "0 0 * * * *", "TZ=Europe/Berlin 0 9 * * *"].map(
          (schedule) => [schedule, { schedule, duration: "1h" }] as [string, object],
        ),
        ["no reasons at all", { reasons: [] }],
      ],
      "%s",
      (_, one) => {
        accepts(budget(one));
      },
    );
    each(
      [
        ["schedule alone", { schedule: "* * * * *" }, /budgets\[0\]: Invalid value: 'schedule' must be set with 'duration'/],
        ["duration alone", { duration: "1h" }, /must be set with/],
        ...["30s", "20m2h", "1.5h", "-20m", ""].map(
          (duration) => [`duration ${duration}`, { schedule: "@daily", duration }, /budgets\[0\]\.duration/] as [string, object, RegExp],
        ),
        ...["101%", "1000%", "-10", "-10%", "5.5%", ""].map(
          (nodes) => [`nodes ${nodes}`, { nodes }, /budgets\[0\]\.nodes/] as [string, object, RegExp],
        ),
        ...["*", "* * * *", "* * * * ", "@wrongly", "@every 1h"].map(
          (schedule) => [`schedule ${schedule}`, { schedule, duration: "1h" }, /budgets\[0\]\.schedule/] as [string, object, RegExp],
        ),
        ...["Expired", "expired", "", "invalid", "unhealthy"].map(
          (reason) => [`reason ${reason}`, { reasons: [reason] }, /Unsupported value/] as [string, object, RegExp],
        ),
        ["a reason twice", { reasons: ["Empty", "Empty"] }, /reasons\[1\]: Duplicate value/],
      ],
      "not %s",
      (_, one, message) => {
        refuses(budget(one), message);
      },
    );
    about("one of three, and 51", () => {
      refuses(budget({ nodes: "1" }, { duration: "1h" }, { nodes: "2" }), /budgets\[1\]: Invalid value/);
      refuses(budget(...Array.from({ length: 51 }, () => ({ nodes: "1" }))), /Too many: 51/);
    });
  });

  about("static pools: A-16, A-18, A-19, A-21", () => {
    const fixed = (spec = {}) => aNodePool({ replicas: 3, ...spec });
    about("scenario 8: the number may change, its presence may not", () => {
      accepts(fixed({ replicas: 5 }), fixed());
      refuses(aNodePool(), /cannot change between static/, fixed());
      refuses(fixed(), /cannot change between static/, aNodePool());
    });
    about("scenario 9: limits and weight", () => {
      refuses(fixed({ limits: { cpu: 1000 } }), /limits: Invalid value: only 'limits.nodes'/);
      refuses(fixed({ limits: { nodes: 1, cpu: 1 } }), /limits/);
      accepts(fixed({ limits: { nodes: 100 } }));
      accepts(fixed({ limits: {} }));
      refuses(fixed({ weight: 25 }), /weight: Invalid value: 'weight' is not supported/);
      refuses(fixed({ replicas: -1 }), /replicas/);
      accepts(fixed({ disruption: { budgets: [{ nodes: "1" }], consolidationPolicy: "WhenEmpty" } }));
    });
  });

  about("nodeClassRef: A-14, A-15, A-37, scenario 10", () => {
    const ref = (change: object) =>
      aPoolOf({ nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default", ...change } });
    each(
      [
        [{ group: "" }, /group/],
        [{ group: "karpenter.test.sh/v1" }, /group in body should match/],
        [{ kind: "" }, /kind/],
        [{ name: "" }, /name/],
        [{ name: undefined }, /name: Required value/],
      ],
      "%o",
      (change, message) => {
        refuses(ref(change), message);
      },
    );
    about("group and kind stay, the name may change", () => {
      refuses(ref({ group: "other" }), /nodeClassRef.group is immutable/, ref({}));
      refuses(ref({ kind: "Other" }), /nodeClassRef.kind is immutable/, ref({}));
      accepts(ref({ name: "other" }), ref({}));
    });
  });

  about("template labels: A-10…A-13", () => {
    each(
      [
        "karpenter.sh/nodepool",
        "karpenter.sh/unknown",
        "foo.karpenter.sh/x",
        "mykarpenter.sh/x",
        "karpenter.sh",
        "kubernetes.io/hostname",
        "karpenter.k8s.aws/foo",
        "karpenter.k8s.aws/nitro-sandbox",
        "x.karpenter.k8s.aws/instance-cpu",
      ],
      "scenarios 11, 12: not %s",
      (key) => {
        refuses(labelled({ [key]: "x" }), /labels: Invalid value: label .* is restricted/);
      },
    );
    each(
      [
        "karpenter.sh/capacity-type",
        "karpenter.sh.example.com/x",
        "spaces are not allowed",
        "kops.k8s.io/gpu",
        "kubernetes.io/key",
        "subdomain.k8s.io",
        "/karpenter.sh",
        "a/karpenter.sh/b",
        "karpenter.k8s.aws/instance-cpu",
        "karpenter.k8s.aws/ec2nodeclass",
        "karpenter.kwok.sh/anything",
        `${"a".repeat(250)}/x`,
      ],
      "scenarios 13, 14: %s",
      (key) => {
        accepts(labelled({ [key]: "x" }));
      },
    );
    about("values and sizes", () => {
      refuses(labelled({ a: "/ is not allowed" }), /labels.a: Invalid value/);
      refuses(labelled({ a: "x".repeat(64) }), /Too long/);
      refuses(labelled(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, "v"]))), /Too many: 101/);
      accepts(labelled({ a: "" }));
    });
  });

  about("taints: A-33", () => {
    const tainted = (key: string, more = {}) => aPoolOf({ taints: [{ key, effect: "NoSchedule", ...more }] });
    each(["a", "Test", "test.com/Test", "test.com.com/test", "key-only", `${"a".repeat(250)}/x`], "%s", (key) => accepts(tainted(key)));
    each(["", "test.com.com}", "Test.com/test", "test/test/test", "test/", "/test", "???"], "not %j", (key) =>
      refuses(tainted(key), /taints\[0\]\.key/),
    );
    about("values, effects, pairs", () => {
      refuses(tainted("a", { value: "" }), /taints\[0\]\.value/);
      refuses(tainted("a", { effect: "Never" }), /Unsupported value/);
      accepts(
        aPoolOf({
          taints: [
            { key: "a", effect: "NoSchedule" },
            { key: "a", effect: "NoExecute" },
          ],
          startupTaints: [{ key: "a", effect: "NoSchedule" }],
        }),
      );
    });
  });

  about("requirements: A-22…A-31", () => {
    each(
      [
        ["In without values", requirement(ZONE, "In", [])],
        ["In, values absent", requirement(ZONE, "In")],
        ["Gt with two", requirement(ZONE, "Gt", ["1", "2"])],
        ["Gt with none", requirement(ZONE, "Gt", [])],
        ["Lte negative", requirement(ZONE, "Lte", ["-1"])],
        ["Gte text", requirement(ZONE, "Gte", ["a"])],
        ["Lt fraction", requirement(ZONE, "Lt", ["1.5"])],
        ["Gt empty", requirement(ZONE, "Gt", [""])],
        ["Gt beyond 64 bits", requirement(ZONE, "Gt", ["9223372036854775808"])],
        ["unknown operator", requirement(ZONE, "Near", ["a"])],
        ["hostname", requirement("kubernetes.io/hostname", "Exists")],
        ["a restricted domain", requirement("foo.karpenter.sh/x", "Exists")],
        ["scenario 26: an unknown AWS label", requirement("karpenter.k8s.aws/foo", "Exists")],
        ["XT-19: nitro-sandbox", requirement("karpenter.k8s.aws/nitro-sandbox", "In", ["true"])],
        ["a bad key", requirement("a b", "Exists")],
        ["a key beyond 316", requirement(`${"a".repeat(313)}/abc`, "Exists")],
      ],
      "scenario 17: %s",
      (_, one) => {
        for (const [, object] of everyKind(one)) refuses(object, /requirements\[0\]/);
      },
    );

    each(
      [
        ["zero", requirement(ZONE, "Gte", ["0"])],
        ["the greatest integer", requirement(ZONE, "Gt", ["9223372036854775807"])],
        ["a sign", requirement(ZONE, "Gt", ["+5"])],
        ["Exists with values", requirement(ZONE, "Exists", ["x"])],
        ["A-28: odd values", requirement(ZONE, "In", ["a b", "x".repeat(100)])],
        ["an AWS label", requirement("karpenter.k8s.aws/instance-cpu", "Gt", ["4"])],
        ["scenario 26: the node class", requirement("karpenter.k8s.aws/ec2nodeclass", "Exists")],
        [
          "scenario 20: 90 values",
          requirement(
            ZONE,
            "In",
            Array.from({ length: 90 }, (_, at) => `z${at}`),
          ),
        ],
      ],
      "%s",
      (_, one) => {
        for (const [, object] of everyKind(one)) accepts(object);
      },
    );

    about("scenario 18, A-29, A-46: NotIn without values", () => {
      const [[, pool], [, claim], [, overlay]] = everyKind(requirement(ZONE, "NotIn"));
      accepts(pool);
      accepts(claim);
      refuses(overlay, /operator 'NotIn' must have a value/);
    });

    each(
      [
        [["t1"], 2],
        [["t1"], 0],
        [["t1"], -1],
        [["t1"], 51],
      ],
      "scenario 19, A-27: In %o with minValues %i",
      (values, minValues) => {
        refuses(aPoolOf({ requirements: [requirement(ZONE, "In", values, minValues)] }), /requirements\[0\]/);
        refuses(aNodeClaim({ requirements: [requirement(ZONE, "In", values, minValues)] }), /requirements\[0\]/);
      },
    );

    about("minValues beside", () => {
      refuses(aPoolOf({ requirements: [requirement(ZONE, "Exists", undefined, 51)] }), /less than or equal to 50/);
      accepts(aPoolOf({ requirements: [requirement(ZONE, "Exists", undefined, 50), requirement(ZONE, "In", ["a", "a"], 2)] }));
      refuses(aNodeOverlay({ requirements: [requirement(ZONE, "In", ["a"], 1)] }), /unknown field "spec.requirements\[0\].minValues"/);
    });

    about("scenario 21: 101 requirements", () => {
      const many = Array.from({ length: 101 }, (_, at) => requirement(`k${at}`, "Exists"));
      for (const [, object] of everyKind(...many)) refuses(object, /Too many: 101/);
    });

    about("scenario 22: karpenter.sh/nodepool", () => {
      const [[, pool], [, claim], [, overlay]] = everyKind(requirement("karpenter.sh/nodepool", "In", ["x"]));
      refuses(pool, /label "karpenter.sh\/nodepool" is restricted/);
      accepts(claim);
      accepts(overlay);
    });

    about("A-24, A-49: what belongs to a provider", () => {
      const [[, pool], [, claim], [, overlay]] = everyKind(requirement("karpenter.kwok.sh/foo", "Exists"));
      refuses(pool, /label domain "karpenter.kwok.sh" is restricted/);
      refuses(claim, /label domain "karpenter.kwok.sh" is restricted/);
      accepts(overlay);
      const tenancy = everyKind(requirement("karpenter.k8s.aws/instance-tenancy", "Exists"));
      accepts(tenancy[0][1]);
      refuses(tenancy[2][1], /label domain "karpenter.k8s.aws" is restricted/);
    });
  });

  about("NodeClaim: A-36, scenario 23", () => {
    about("spec is immutable, metadata is not", () => {
      refuses(aNodeClaim({ expireAfter: "1h" }), /spec: Invalid value: spec is immutable/, aNodeClaim({ expireAfter: "2h" }));
      accepts({ ...aNodeClaim(), metadata: { name: "example", labels: { a: "b" } } }, aNodeClaim());
    });
  });

  about("NodeOverlay: A-45…A-51", () => {
    each(["43", "34.43", "0"], "price %s", (price) => accepts(aNodeOverlay({ price })));
    each(["+42", "-1", ".5", "42.", "42%", "3,14", "1e10", "0x42", "42a", " 42", "42 ", "42.0.0"], "not price %j", (price) =>
      refuses(aNodeOverlay({ price }), /price: Invalid value/),
    );
    each(
      ["+43", "-43", "+34.43", "-34.43", "+.5", "+1%", "+298%", "+100.102%", "-1%", "-99.9%", "-100%"],
      "priceAdjustment %s",
      (priceAdjustment) => accepts(aNodeOverlay({ priceAdjustment })),
    );
    each(["1", "1.3", "1%", "+5.", "-.5%", "-100.0%", "-101%"], "not priceAdjustment %s", (priceAdjustment) =>
      refuses(aNodeOverlay({ priceAdjustment }), /priceAdjustment: Invalid value/),
    );
    about("scenario 30, 32: both prices, capacity, weight", () => {
      refuses(aNodeOverlay({ price: "0.432", priceAdjustment: "+10%" }), /cannot set both/);
      refuses(aNodeOverlay({ capacity: { memory: "34Gi" } }), /capacity: Invalid value/);
      accepts(aNodeOverlay({ capacity: { "smarter-devices/fuse": 1 } }));
      refuses(aNodeOverlay({ weight: 0 }), /weight/);
      refuses(aNodeOverlay({ weight: 10001 }), /weight/);
      accepts(aNodeOverlay({ weight: 10000 }));
    });
  });

  about("CapacityBuffer: A-58…A-60, scenario 34", () => {
    const podTemplateRef = { name: "template" };
    const scalableRef = { kind: "Deployment", name: "web" };
    each(
      [
        [{ podTemplateRef, replicas: 0 }],
        [{ podTemplateRef, limits: {} }],
        [{ scalableRef }],
        [{ scalableRef: { apiGroup: "", ...scalableRef }, percentage: 0 }],
        [{}],
      ],
      "%o",
      (spec) => accepts(aCapacityBuffer(spec)),
    );
    each(
      [
        [{ podTemplateRef }, /'replicas' or 'limits' must be set/],
        [{ podTemplateRef, scalableRef, replicas: 1 }, /cannot set both/],
        [{ percentage: -1 }, /percentage/],
        [{ replicas: -1 }, /replicas/],
        [{ podTemplateRef: { name: "" }, replicas: 1 }, /podTemplateRef.name/],
        [{ scalableRef: { kind: "", name: "x" } }, /scalableRef.kind/],
      ],
      "not %o",
      (spec, message) => refuses(aCapacityBuffer(spec), message),
    );
  });
});
