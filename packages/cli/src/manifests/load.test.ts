import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadManifests } from "./load.ts";
import { formatProblem } from "./problem.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-load-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pod = (spec: string, metadata = "{name: a}") => `apiVersion: v1\nkind: Pod\nmetadata: ${metadata}\nspec: ${spec}\n`;
const CONTAINER = "containers: [{name: main, image: x}]";

const statefulSet = (claim: string, mounted: string) => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: m, image: x, volumeMounts: [{name: ${mounted}, mountPath: /d}]}]
  volumeClaimTemplates: [{metadata: {name: ${claim}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`;

async function problemsOf(text: string): Promise<string[]> {
  const { errors, warnings } = await loadManifests(["-"], async () => text);
  return [...errors, ...warnings].map(formatProblem);
}

describe("right input has no problems", () => {
  test.each([
    ["a pod", pod(`{${CONTAINER}}`)],
    ["several documents, empty ones and comments among them", `---\n# nothing\n---\n${pod(`{${CONTAINER}}`)}---\n`],
    [
      "a List",
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } }] }),
    ],
    ["a typed list whose items do not name their kind", '{"apiVersion":"v1","kind":"NamespaceList","items":[{"metadata":{"name":"n"}}]}'],
    ["an empty List", '{"apiVersion":"v1","kind":"List","items":[]}'],
    [
      "several JSON values",
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}\n{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b"}}',
    ],
    ["flow YAML that is no JSON", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"],
    ["equal copies", `${pod(`{${CONTAINER}}`)}---\n${pod(`{${CONTAINER}}`)}`],
    [
      "a template in a comment, and one in quotes of a label's annotation",
      `# {{ .Values.x }}\n${pod(`{${CONTAINER}}`, '{name: a, annotations: {x: "{{ y }}"}}')}`,
    ],
    ["a StatefulSet that mounts what its claim templates make", statefulSet("data", "data")],
    ["null for an absent field", pod(`{${CONTAINER}, affinity: null, volumes: }`)],
    [
      "dates and times as text, as kubectl leaves them",
      pod(`{${CONTAINER}}`, "{name: a, annotations: {on: 2024-01-01, at: 12:30, x: '1'}}"),
    ],
    ["a bare number as quantity", pod("{containers: [{name: main, image: x, resources: {requests: {cpu: 1.5}}}]}")],
    [
      "anchors and merge keys",
      `x: &base {app: a}\n`.replace("x", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n  labels") +
        "  annotations: {<<: *base}\n",
    ],
  ])("%s", async (_, text) => {
    expect(await problemsOf(text)).toEqual([]);
  });
});

describe("wrong input: file, line, column, object, field, fault, remedy", () => {
  test.each<[string, string, string | RegExp]>([
    [
      "a template",
      'name: {{ include "x" . }}\n  {{- toYaml .y }}\n',
      /^<stdin>:2:\d+: is no YAML; it looks like a template of Helm; render it first: helm template CHART/,
    ],
    [
      "the configuration of kube-scheduler",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
      /^<stdin>:2:1: KubeSchedulerConfiguration: kind: .+; give its default constraints with --scheduler-config$/,
    ],
    [
      "a kubeconfig",
      "apiVersion: v1\nkind: Config\nclusters: []\n",
      /^<stdin>:2:1: Config: kind: this is a kubeconfig .+ --kubeconfig FILE$/,
    ],
    [
      "a kind that is misspelt",
      "apiVersion: apps/v1\nkind: Deploymnt\n",
      "<stdin>:2:1: Deploymnt: kind: apps/v1 has no kind Deploymnt; did you mean Deployment?",
    ],
    ["a kind in small letters", "apiVersion: v1\nkind: pod\n", "<stdin>:2:1: pod: kind: v1 has no kind pod; did you mean Pod?"],
    [
      "a server's refusal",
      '{"apiVersion":"v1","kind":"Status","status":"Failure","message":"pods is forbidden"}',
      "<stdin>:1:20: Status: kind: this is what a server answers when it refuses (pods is forbidden), and no object of it; ask again",
    ],
    ["kubectl's table", "NAME  READY\nweb-0  1/1\n", /^<stdin>:1:1: is no object; .+, not kubectl's table: ask it for -o json$/],
    ["no YAML", "a: [", /^<stdin>:1:\d+: is no YAML: /],
    [
      "a template that is YAML by chance",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: {{ .Values.replicas }}\n",
      "<stdin>:5:14: is no manifest yet; it looks like a template of Helm; render it first: helm template CHART | joinery plan -",
    ],
    [
      "a template in a list",
      "items:\n  - a\n  - {{ $value }}\n",
      "<stdin>:3:6: is no manifest yet; it looks like a template of Helm; render it first: helm template CHART | joinery plan -",
    ],
    [
      "a key twice",
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nkind: Pod\n",
      '<stdin>:4:1: Pod/a: kind: the key "kind" is given twice in one object, first in line 2; give it once',
    ],
    [
      "a key twice, deep in an item of a List",
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    containers:\n    - name: m\n      image: x\n      name: n\n",
      '<stdin>:11:7: Pod/a: spec.containers[0].name: the key "name" is given twice in one object, first in line 9; give it once',
    ],
    [
      "a key twice in what is no object of Kubernetes",
      "a:\n  b.c/d: 1\n  b.c/d: 2\n",
      '<stdin>:3:3: a[b.c/d]: the key "b.c/d" is given twice in one object, first in line 2; give it once',
    ],
    [
      "a JSON key twice",
      '{"apiVersion":"v1","kind":"Namespace",\n "metadata":{"name":"a","name":"b"}}',
      '<stdin>:2:25: Namespace/b: metadata.name: the key "name" is given twice in one object, first in line 2; give it once',
    ],
    [
      "a JSON key twice, deep in an item of a List behind another value",
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}\n{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b"}},{"apiVersion":"v1","kind":"Pod",\n"metadata":{"name":"a"},"spec":{"containers":[{"name":"m","image":"x"},\n{"name":"n","image":"x",\n"name":"o"}]}}]}',
      '<stdin>:5:1: Pod/a: spec.containers[1].name: the key "name" is given twice in one object, first in line 4; give it once',
    ],
    ["tabs", "a:\n\tb: 1\n", /^<stdin>:2:\d+: is no YAML: tabs cannot indent; use blanks$/],
    ["a list at the top", "- a\n", "<stdin>:1:1: is no object; want a Kubernetes object with apiVersion and kind"],
    ["no kind", "apiVersion: v1\n", "<stdin>:1:1: kind: is missing; every object needs one, such as Pod"],
    [
      "no name",
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  labels: {}\n",
      "<stdin>:3:1: Namespace: metadata.name: is missing; give the object a name",
    ],
    [
      "a removed version",
      "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
      "<stdin>:1:1: Deployment/a: apiVersion: Deployment is not served under extensions/v1beta1; use apps/v1",
    ],
    ["no containers", pod("{restartPolicy: Never}"), "<stdin>:4:1: Pod/a: spec.containers: is missing; a pod needs at least one container"],
    ["a wrong type", pod(`{${CONTAINER}, hostNetwork: "yes"}`), '<stdin>:4:46: Pod/a: spec.hostNetwork: must be true or false, is "yes"'],
    [
      "a number where text belongs",
      pod(`{${CONTAINER}}`, "{name: a, labels: {num: 5}}"),
      "<stdin>:3:30: Pod/a: metadata.labels.num: must be text, is 5; put quotes around it",
    ],
    [
      "a quantity",
      pod("{containers: [{name: m, image: x, resources: {requests: {cpu: 1x}}}]}"),
      /requests\.cpu: "1x" is no quantity; write a number/,
    ],
    [
      "a request over its limit",
      pod("{containers: [{name: m, image: x, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}"),
      /requests\.cpu: must be at most the limit 1, is 2$/,
    ],
    [
      "a device without limit",
      pod("{containers: [{name: m, image: x, resources: {requests: {nvidia.com/gpu: 1}}}]}"),
      /requests\[nvidia\.com\/gpu\]: needs an equal limit/,
    ],
    [
      "a label value",
      pod(`{${CONTAINER}}`, "{name: a, labels: {app: a b}}"),
      /metadata\.labels\.app: "a b" is not valid here; use at most 63 letters/,
    ],
    ["a name", pod(`{${CONTAINER}}`, "{name: A_b}"), /metadata\.name: "A_b" is not valid here; use at most 253 lower-case/],
    [
      "a toleration",
      pod(`{${CONTAINER}, tolerations: [{key: a, operator: Exists, value: b}]}`),
      /tolerations\[0\]\.value: must be empty with operator Exists/,
    ],
    [
      "an affinity operator",
      pod(
        `{${CONTAINER}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is}]}]}}}}`,
      ),
      /operator: "Is" is no operator; use In, NotIn, Exists, DoesNotExist, Gt or Lt$/,
    ],
    [
      "no place to mount",
      pod("{containers: [{name: m, image: x, volumeMounts: [{name: data, mountPath: /d}]}]}"),
      /volumeMounts\[0\]\.name: "data" is no volume of this pod; add it to volumes$/,
    ],
    [
      "a StatefulSet without such a claim template",
      statefulSet("data", "date"),
      /StatefulSet\/db: .+volumeMounts\[0\]\.name: "date" is no volume of this pod; add it to volumes$/,
    ],
    [
      "different copies",
      `${pod(`{${CONTAINER}}`)}---\n${pod(`{${CONTAINER}, hostNetwork: true}`)}`,
      "<stdin>:6:1: Pod/a: Pod/a is given twice with different content, first at <stdin>:1; keep one",
    ],
    [
      "a selector that misses",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: b}}\n    spec: {containers: [{name: m, image: x}]}\n",
      /^<stdin>:7:16: Deployment\/d: spec\.template\.metadata\.labels: do not match spec\.selector/,
    ],
    [
      "a Job that always restarts",
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec: {containers: [{name: m, image: x}]}\n",
      /restartPolicy: must be OnFailure or Never in a Job, is missing$/,
    ],
    [
      "our own kind",
      "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: p}\n",
      /^<stdin>:1:1: NodePool\/p: apiVersion: no matches for kind "NodePool" in version "karpenter.sh\/v1beta1"/,
    ],
  ])("%s", async (_, text, wanted) => {
    const problems = await problemsOf(text);
    expect(problems).toHaveLength(1);
    if (typeof wanted === "string") expect(problems[0]).toBe(wanted);
    else expect(problems[0]).toMatch(wanted);
  });

  test("an unknown field of a built-in kind is a warning, with what was meant", async () => {
    const { errors, warnings } = await loadManifests(["-"], async () => pod(`{${CONTAINER}, nodeSelecter: {a: b}}`));
    expect(errors).toEqual([]);
    expect(warnings.map(formatProblem)).toEqual(["<stdin>:4:46: Pod/a: spec.nodeSelecter: unknown field; did you mean nodeSelector?"]);
  });

  test("every fault is told, not only the first", async () => {
    expect(await problemsOf(pod("{containers: [{name: A, image: x}, {name: b}]}"))).toHaveLength(2);
  });
});

describe("files and folders", () => {
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  writeFileSync(join(folder, "deep/er/b.yml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n");
  writeFileSync(join(folder, "deep/a.json"), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}');
  writeFileSync(join(folder, "deep/readme.md"), "no manifest");
  mkdirSync(join(folder, "empty"));

  test("a folder gives all manifests below it; other kinds are counted", async () => {
    const { manifests, ignoredKinds, errors } = await loadManifests([folder], async () => "");
    expect(errors).toEqual([]);
    expect(manifests.map(({ file }) => file)).toEqual([join(folder, "deep/er/b.yml")]);
    expect([...ignoredKinds]).toEqual([["ConfigMap", 1]]);
  });

  test.each([
    ["nowhere.yaml", "no such file or folder"],
    ["empty", "no .yaml, .yml or .json files in this folder; name a file, or another folder"],
  ])("%s", async (name, message) => {
    const { errors } = await loadManifests([join(folder, name)], async () => "");
    expect(errors.map(formatProblem)).toEqual([`${join(folder, name)}: ${message}`]);
  });

  test("a chart of Helm below a folder is told once, and nothing of it is read", async () => {
    const root = mkdtempSync(join(tmpdir(), "joinery-chart-"));
    mkdirSync(join(root, "chart/templates"), { recursive: true });
    writeFileSync(join(root, "chart/Chart.yaml"), "apiVersion: v2\nname: x\n");
    writeFileSync(join(root, "chart/values.yaml"), "replicas: 3\n");
    writeFileSync(join(root, "chart/templates/a.yaml"), "name: {{ .Release.Name }}\n");
    const { errors } = await loadManifests([root], async () => "");
    const chart = join(root, "chart");
    const message = `is a chart of Helm, whose templates are no manifests yet; render it: helm template ${chart} | joinery plan -`;
    expect(errors.map(formatProblem)).toEqual([`${chart}: ${message}`]);
    rmSync(root, { recursive: true });
  });

  test("of a kustomization the files are taken as they are, with a warning", async () => {
    const root = mkdtempSync(join(tmpdir(), "joinery-kustomization-"));
    writeFileSync(join(root, "kustomization.yaml"), "resources: [a.yaml]\n");
    writeFileSync(join(root, "a.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
    const { manifests, errors, warnings } = await loadManifests([root], async () => "");
    expect(errors).toEqual([]);
    expect(manifests).toHaveLength(1);
    expect(warnings.map(formatProblem)).toEqual([
      `${join(root, "kustomization.yaml")}: is not applied here: the files are taken as they are; render them: kubectl kustomize ${root} | joinery plan -`,
    ]);
    rmSync(root, { recursive: true });
  });

  test.each(["utf-16le", "utf-16be"])("a file in %s, as PowerShell writes it", async (encoding) => {
    const root = mkdtempSync(join(tmpdir(), "joinery-encoding-"));
    const bytes = Buffer.from("\ufeffapiVersion: v1\r\nkind: Namespace\r\nmetadata: {name: a}\r\n", "utf16le");
    writeFileSync(join(root, "a.yaml"), encoding === "utf-16be" ? bytes.swap16() : bytes);
    const { manifests, errors } = await loadManifests([root], async () => "");
    expect(errors).toEqual([]);
    expect(manifests.map(({ object }) => object.metadata?.name)).toEqual(["a"]);
    rmSync(root, { recursive: true });
  });

  test("a link in a folder that leads nowhere is named itself", async () => {
    const linked = mkdtempSync(join(tmpdir(), "joinery-linked-"));
    symlinkSync("nowhere", join(linked, "gone.yaml"));
    const { errors } = await loadManifests([linked], async () => "");
    expect(errors.map(formatProblem)).toEqual([`${join(linked, "gone.yaml")}: no such file or folder`]);
    rmSync(linked, { recursive: true });
  });
});

test("kinds that are not read are no typing errors of those that are", async () => {
  const others = [
    ["v1", "ConfigMap Secret ServiceAccount Endpoints Event ResourceQuota Binding ComponentStatus"],
    ["apps/v1", "ControllerRevision"],
    ["storage.k8s.io/v1", "CSIDriver VolumeAttachment CSIStorageCapacity VolumeAttributesClass"],
    ["policy/v1", "Eviction PodSecurityPolicy"],
    ["example.com/v1", "Deploymnt"],
  ] as const;
  const text = others
    .flatMap(([apiVersion, kinds]) => kinds.split(" ").map((kind) => `apiVersion: ${apiVersion}\nkind: ${kind}\n`))
    .join("---\n");
  const { errors, ignoredKinds } = await loadManifests(["-"], async () => text);
  expect(errors).toEqual([]);
  expect([...ignoredKinds.values()].reduce((sum, count) => sum + count, 0)).toBe(16);
});

test("positions in a long JSON list are those of the item", async () => {
  const items = Array.from({ length: 300 }, (_, index) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: index === 250 ? "Bad" : `n${index}` },
  }));
  const text = `{"kind":"List","items":[\n${items.map((item) => JSON.stringify(item)).join(",\n")}\n]}`;
  const { errors } = await loadManifests(["-"], async () => text);
  expect(errors.map(({ line, path }) => [line, path])).toEqual([[252, "metadata.name"]]);
});
