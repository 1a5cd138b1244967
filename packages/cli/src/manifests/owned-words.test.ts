import { crdOf, type OpenApiSchema, OWNED_KINDS } from "@joinery/api";
import { expect, test } from "vitest";
import { loadManifests } from "./load.ts";
import { PATTERN_WORDS } from "./owned-words.ts";
import { formatProblem } from "./problem.ts";

test("every pattern that has words is one of our schemas", () => {
  const patterns = new Set<string>();
  const walk = ({ pattern, properties = {}, items, additionalProperties }: OpenApiSchema) => {
    if (pattern !== undefined) patterns.add(pattern);
    for (const child of [...Object.values(properties), items, additionalProperties]) if (typeof child === "object") walk(child);
  };
  for (const kind of OWNED_KINDS) for (const { schema } of crdOf(kind).spec.versions) walk(schema?.openAPIV3Schema ?? {});
  expect([...PATTERN_WORDS.keys()].filter((pattern) => !patterns.has(pattern))).toEqual([]);
});

const pool = (spec: string, template = "") => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
${spec}  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
${template}`;

const poolWith = (requirement: string, labels = "{}") =>
  pool("")
    .replace("requirements: []", `requirements: [${requirement}]`)
    .replace("template:\n", `template:\n    metadata: {labels: ${labels}}\n`);

test.each([
  { name: "a typo", text: pool("  wieght: 1\n"), says: "spec.wieght: unknown field; did you mean weight?" },
  {
    name: "another case",
    text: pool("", "      expireafter: 1h\n"),
    says: "spec.template.spec.expireafter: unknown field; did you mean expireAfter?",
  },
  {
    name: "one level too high",
    text: pool("  expireAfter: 1h\n"),
    says: "spec.expireAfter: unknown field; did you mean spec.template.spec.expireAfter?",
  },
  {
    name: "inside a list",
    text: pool("  disruption: {budgets: [{nodes: '1', reason: []}]}\n"),
    says: "spec.disruption.budgets[0].reason: unknown field; did you mean reasons?",
  },
  { name: "nothing near, few fields", text: pool("  provider: {}\n"), says: "spec.provider: unknown field; known here are " },
  {
    name: "nothing near, many fields",
    text: pool("").replace("NodePool", "EC2NodeClass").replace("karpenter.sh/v1", "karpenter.k8s.aws/v1"),
    says: "spec.template: unknown field; take it out",
  },
  {
    name: "a bound, without the path again",
    text: pool("  weight: 101\n"),
    says: "NodePool/default: spec.weight: Invalid value: 101: should be less than or equal to 100",
  },
  {
    name: "a pattern in words",
    text: pool("", "      expireAfter: 30d\n"),
    says: 'expireAfter: Invalid value: "30d"; want hours, minutes and seconds, such as 30m or 720h, or Never',
  },
  {
    name: "a restricted label that is mistyped (A-95)",
    text: poolWith("{ key: karpenter.k8s.aws/instance-famly, operator: Exists }"),
    says: 'requirements[0].key: Invalid value: "karpenter.k8s.aws/instance-famly": label domain "karpenter.k8s.aws" is restricted; did you mean karpenter.k8s.aws/instance-family?',
  },
  {
    name: "a label under a domain that does not have it",
    text: poolWith("{ key: karpenter.k8s.aws/zone, operator: Exists }"),
    says: 'label domain "karpenter.k8s.aws" is restricted; did you mean topology.kubernetes.io/zone?',
  },
  {
    name: "the pool's name by the label of an earlier API",
    text: poolWith("{ key: karpenter.sh/provisioner-name, operator: Exists }"),
    says: 'label domain "karpenter.sh" is restricted; take it out: nodes get the name of their NodePool as karpenter.sh/nodepool',
  },
  {
    name: "the hostname",
    text: poolWith("{ key: kubernetes.io/hostname, operator: Exists }"),
    says: 'label "kubernetes.io/hostname" is restricted; take it out: every node gets its own name as this label',
  },
  {
    name: "a label of one's own in a restricted domain, of kwok",
    text: poolWith("{ key: karpenter.kwok.sh/rack, operator: Exists }"),
    says: "only labels that come with instance types can be of this domain; for one of your own write for instance example.com/rack",
  },
  {
    name: "labels of the template, of which one is mistyped",
    text: poolWith("", "{team: a, karpenter.sh/capacity-type: spot, karpenter.sh/capcity-type: spot}"),
    says: 'metadata.labels: Invalid value: label domain "karpenter.sh" is restricted; karpenter.sh/capcity-type: did you mean karpenter.sh/capacity-type?',
  },
  {
    name: "a template's text",
    text: pool('  limits: {cpu: "{{ .Values.cpu }}"}\n'),
    says: "want a quantity, such as 500m, 100 or 64Gi; it looks like a template of Helm; render it first",
  },
])("$name", async ({ text, says }) => {
  const { errors } = await loadManifests(["-"], async () => text);
  expect(errors.map(formatProblem).join("\n")).toContain(says);
});
