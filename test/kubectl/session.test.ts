/** What people type: the real kubectl against the sandbox, command by command, with what it must print. The tests are one session, in order. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSession, ownDefinitions, type Session } from "./session.ts";

let session: Session;
beforeAll(async () => {
  session = await openSession();
});
afterAll(() => session?.close());

/** Runs a command that must succeed; gives what it printed. */
async function ok(command: string, options?: Parameters<Session["kubectl"]>[1]): Promise<string> {
  const { code, out, err } = await session.kubectl(command, options);
  expect(code, `kubectl ${command}\n${out}${err}`).toBe(0);
  return out;
}

async function refused(command: string, options?: Parameters<Session["kubectl"]>[1]): Promise<string> {
  const { code, out, err } = await session.kubectl(command, options);
  expect(code, `kubectl ${command}\n${out}${err}`).not.toBe(0);
  return err;
}

const web = (replicas: number, image = "nginx:1.27") => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "${image}", ports: [{containerPort: 80}], resources: {requests: {cpu: 100m, memory: 64Mi}}}
`;

describe("the server", () => {
  test("version and health", async () => {
    expect(await ok("version")).toContain("Server Version: v1.37.2");
    expect(await ok("get --raw /readyz")).toBe("ok");
  });

  test("api-resources knows short names, scope and categories", async () => {
    const out = await ok("api-resources --api-group=apps");
    expect(out).toBe(`NAME  SHORTNAMES  APIVERSION  NAMESPACED  KIND
controllerrevisions  apps/v1  true  ControllerRevision
daemonsets  ds  apps/v1  true  DaemonSet
deployments  deploy  apps/v1  true  Deployment
replicasets  rs  apps/v1  true  ReplicaSet
statefulsets  sts  apps/v1  true  StatefulSet
`);
    expect(await ok("api-resources --categories=all -o name")).toContain("deployments.apps");
  });

  test("namespaces", async () => {
    expect(await ok("get ns")).toBe(`NAME  STATUS  AGE
default  Active  AGE
kube-node-lease  Active  AGE
kube-public  Active  AGE
kube-system  Active  AGE
`);
  });

  test("explain reads the OpenAPI documents", async () => {
    expect(await ok("explain pod.spec.containers.resources")).toContain("requests\t<map[string]string>");
  });
});

describe("nodes", () => {
  test("become ready", async () => {
    await ok("wait --for=condition=Ready node/node-a node/node-b --timeout=20s");
    const [head, line] = (await ok("get nodes -o wide")).split("\n");
    expect(head).toBe("NAME  STATUS  ROLES  AGE  VERSION  INTERNAL-IP  EXTERNAL-IP  OS-IMAGE  KERNEL-VERSION  CONTAINER-RUNTIME");
    expect(line).toMatch(/^node-a {2}Ready {2}<none> {2}AGE {2}v/);
  });

  test("label, annotate, taint and untaint", async () => {
    expect(await ok("label node node-a tier=gold")).toBe("node/node-a labeled\n");
    expect(await ok("annotate node node-a note=hello")).toBe("node/node-a annotated\n");
    expect(await ok("taint node node-a team=a:NoSchedule")).toBe("node/node-a tainted\n");
    expect(await ok("get nodes -l tier=gold -o name")).toBe("node/node-a\n");
    expect(await ok("taint node node-a team-")).toBe("node/node-a untainted\n");
    expect(await refused("label node node-a tier=silver")).toContain("--overwrite");
  });

  test("describe", async () => {
    const out = await ok("describe node node-a");
    expect(out).toMatch(/Taints: +<none>/);
    expect(out).toContain("Allocated resources:");
    expect(out).toMatch(/Ready +True/);
  });
});

describe("apply", () => {
  test("client-side: created, unchanged, configured", async () => {
    const file = session.file("web.yaml", web(2));
    expect(await ok(`apply -f ${file}`)).toBe("deployment.apps/web created\n");
    expect(await ok(`apply -f ${file}`)).toBe("deployment.apps/web unchanged\n");
    session.file("web.yaml", web(3));
    expect(await ok(`apply -f ${file} --dry-run=server`)).toBe("deployment.apps/web configured (server dry run)\n");
    expect(await ok("get deploy web -o jsonpath={.spec.replicas}")).toBe("2");
    expect(await ok(`apply -f ${file}`)).toBe("deployment.apps/web configured\n");
    expect(await ok(`diff -f ${file}`)).toBe("");
  });

  test("rollout status, then the tables", async () => {
    expect(await ok("rollout status deploy/web --timeout=30s")).toContain('deployment "web" successfully rolled out');
    expect(await ok("get deploy -o wide")).toBe(`NAME  READY  UP-TO-DATE  AVAILABLE  AGE  CONTAINERS  IMAGES  SELECTOR
web  3/3  3  3  AGE  web  nginx:1.27  app=web
`);
    const [head, line] = (await ok("get pods -o wide")).split("\n");
    expect(head).toBe("NAME  READY  STATUS  RESTARTS  AGE  IP  NODE  NOMINATED NODE  READINESS GATES");
    expect(line).toMatch(/^web-[a-z0-9]+-[a-z0-9]{5} {2}1\/1 {2}Running {2}0 {2}AGE {2}10\.[\d.]+ {2}node-[ab] {2}<none> {2}<none>$/);
    expect(await ok("get rs")).toMatch(/^NAME {2}DESIRED {2}CURRENT {2}READY {2}AGE\nweb-[a-z0-9]+ {2}3 {2}3 {2}3 {2}AGE\n$/);
  });

  test("server-side, with conflicts between managers", async () => {
    const file = session.file("web.yaml", web(3));
    expect(await ok(`apply --server-side -f ${file}`)).toBe("deployment.apps/web serverside-applied\n");
    const other = session.file("other.yaml", web(5));
    const err = await refused(`apply --server-side --field-manager=other -f ${other}`);
    expect(err).toContain(".spec.replicas");
    expect(err).toContain('conflicts with "kubectl"');
    expect(await ok(`apply --server-side --force-conflicts --field-manager=other -f ${other}`)).toBe(
      "deployment.apps/web serverside-applied\n",
    );
    expect(await ok("get deploy web -o jsonpath={.spec.replicas}")).toBe("5");
  });

  test("unknown fields are refused, as is what breaks a rule", async () => {
    const typo = session.file("typo.yaml", web(1).replace("replicas:", "replicaz:").replaceAll("web", "typo"));
    expect(await refused(`apply -f ${typo}`)).toContain('strict decoding error: unknown field "spec.replicaz"');
    const bad = session.file(
      "bad.yaml",
      web(1).replace("matchLabels: {app: web}", "matchLabels: {app: nope}").replace("name: web,", "name: bad,"),
    );
    expect(await refused(`apply -f ${bad}`)).toContain(
      'The Deployment "bad" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    );
  });
});

describe("changes", () => {
  test("scale", async () => {
    expect(await ok("scale deploy web --replicas=2")).toBe("deployment.apps/web scaled\n");
    expect(await ok("get deploy web -o jsonpath={.spec.replicas}")).toBe("2");
    expect(await ok("rollout status deploy/web --timeout=30s")).toContain("successfully rolled out");
  });

  test("edit", async () => {
    const editor = session.file("editor.sh", "#!/bin/sh\nsed -i 's/^  replicas: 2/  replicas: 4/' \"$1\"\n");
    expect(await ok("edit deploy web", { editor: `sh ${editor}` })).toBe("deployment.apps/web edited\n");
    expect(await ok("get deploy web -o jsonpath={.spec.replicas}")).toBe("4");
  });

  test("the three kinds of patch", async () => {
    expect(await ok(`patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.28"}]}}}}'`)).toBe(
      "deployment.apps/web patched\n",
    );
    expect(await ok("get deploy web -o jsonpath={.spec.template.spec.containers[0].ports[0].containerPort}")).toBe("80");
    expect(await ok(`patch deploy web --type=merge -p '{"metadata":{"labels":{"app":null,"new":"x"}}}'`)).toBe(
      "deployment.apps/web patched\n",
    );
    expect(await ok("get deploy web -o jsonpath={.metadata.labels}")).toBe('{"new":"x"}');
    expect(await ok(`patch deploy web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'`)).toBe(
      "deployment.apps/web patched\n",
    );
    expect(await refused(`patch deploy web --type=json -p '[{"op":"remove","path":"/spec/nope"}]'`)).toContain(
      "the server rejected our request",
    );
  });

  test("set image rolls out, and the old replica set stays empty", async () => {
    expect(await ok("set image deploy/web web=nginx:1.29")).toBe("deployment.apps/web image updated\n");
    expect(await ok("rollout status deploy/web --timeout=40s")).toContain("successfully rolled out");
    const replicaSets = (await ok("get rs -l app=web -o jsonpath={.items[*].spec.replicas}")).split(" ").sort();
    expect(replicaSets.at(-1)).toBe("3");
    expect(new Set(replicaSets.slice(0, -1))).toEqual(new Set(["0"]));
  });
});

describe("pods", () => {
  test("generated names", async () => {
    const pod = session.file(
      "pod.yaml",
      "apiVersion: v1\nkind: Pod\nmetadata: {generateName: job-}\nspec: {containers: [{name: a, image: busybox}]}\n",
    );
    expect(await ok(`create -f ${pod}`)).toMatch(/^pod\/job-[a-z0-9]{5} created\n$/);
    expect(await ok("delete pod --field-selector=metadata.name!=none -l '!app' --now")).toMatch(/^pod "job-[a-z0-9]{5}" deleted/);
  });

  test("run, describe, logs, delete", async () => {
    expect(await ok("run one --image=busybox")).toBe("pod/one created\n");
    await ok("wait --for=condition=Ready pod/one --timeout=20s");
    const out = await ok("describe pod one");
    expect(out).toMatch(/Status: +Running/);
    expect(out).toMatch(/QoS Class: +BestEffort/);
    expect(out).toMatch(/node\.kubernetes\.io\/not-ready:NoExecute op=Exists for (AGE|300s)/);
    expect(out).toMatch(/Successfully assigned default\/one to node-[ab]/);
    expect(await ok("logs one")).toContain("one: started");
    expect(await refused("logs one -c nope")).toContain("container nope is not valid for pod one");
    expect(await ok("delete pod one --wait --timeout=30s")).toContain('pod "one" deleted');
    expect(await refused("get pod one")).toBe('Error from server (NotFound): pods "one" not found\n');
  });

  test("a watch prints changes as they come", async () => {
    const watching = session.kubectl("get pods -l run=two -w --request-timeout=4s");
    const waiting = session.kubectl("wait --for=create pod/two --timeout=10s");
    await ok("run two --image=busybox");
    expect((await waiting).code).toBe(0);
    const gone = session.kubectl("wait --for=delete pod/two --timeout=30s");
    await ok("wait --for=condition=Ready pod/two --timeout=20s");
    await ok("delete pod two --wait=false");
    expect((await gone).code).toBe(0);
    // Where the watch began is chance; what it saw from there on is not.
    const states = (await watching).out.split("\n").map((line) => line.split("  ")[2] ?? "");
    expect(states[0]).toBe("STATUS");
    expect(states.indexOf("Running")).toBeGreaterThan(0);
    expect(states.indexOf("Terminating")).toBeGreaterThan(states.indexOf("Running"));
  });
});

describe("drain", () => {
  test("cordon and uncordon", async () => {
    expect(await ok("cordon node-b")).toBe("node/node-b cordoned\n");
    expect(await ok("get node node-b")).toContain("Ready,SchedulingDisabled");
    expect(await ok("uncordon node-b")).toBe("node/node-b uncordoned\n");
  });

  test("evicts what a budget allows, and waits for the rest", async () => {
    const budget = session.file(
      "pdb.yaml",
      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}\n",
    );
    await ok(`apply -f ${budget}`);
    await ok("wait --for=jsonpath={.status.currentHealthy}=3 pdb/web --timeout=20s");
    expect(await ok("get pdb")).toBe(`NAME  MIN AVAILABLE  MAX UNAVAILABLE  ALLOWED DISRUPTIONS  AGE
web  N/A  0  0  AGE
`);
    await ok("cordon node-b");
    const node = await ok("get pods -l app=web -o jsonpath={.items[0].spec.nodeName}");
    await ok("uncordon node-b");
    const stuck = await session.kubectl(`drain ${node} --ignore-daemonsets --force --timeout=2s`);
    expect(stuck.code).not.toBe(0);
    expect(stuck.err).toContain("Cannot evict pod as it would violate the pod's disruption budget");
    await ok(`patch pdb web --type=merge -p '{"spec":{"maxUnavailable":1}}'`);
    const out = await ok(`drain ${node} --ignore-daemonsets --force --timeout=40s`);
    expect(out).toContain(`node/${node} drained`);
    expect(await ok(`get pods -l app=web --field-selector=spec.nodeName=${node} -o name`)).toBe("");
    await ok(`uncordon ${node}`);
    await ok("rollout status deploy/web --timeout=30s");
  });
});

describe("custom resources", () => {
  test("our own definitions", async () => {
    const file = session.file("crds.json", ownDefinitions());
    expect(await ok(`apply --server-side -f ${file}`)).toContain(
      "customresourcedefinition.apiextensions.k8s.io/nodepools.karpenter.sh serverside-applied",
    );
    await ok("wait --for=condition=Established crd/nodepools.karpenter.sh --timeout=10s");
    expect(await ok("get crd nodepools.karpenter.sh -o jsonpath={.spec.scope}")).toBe("Cluster");
  });

  const pool = (weight: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  weight: ${weight}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
`;

  test("apply, tables, describe, delete", async () => {
    const file = session.file("pool.yaml", pool("10"));
    expect(await ok(`apply -f ${file}`)).toBe("nodepool.karpenter.sh/general created\n");
    const [head, line] = (await ok("get nodepools -o wide")).split("\n");
    expect(head).toMatch(/^NAME {2}NODECLASS {2}NODES {2}READY {2}AGE {2}WEIGHT/);
    expect(line).toMatch(/^general {2}default/);
    const out = await ok("describe nodepool general");
    expect(out).toMatch(/Kind: +NodePool/);
    expect(out).toMatch(/Consolidation Policy: +WhenEmptyOrUnderutilized/);
    expect(await ok("get karpenter -o name")).toBe("nodepool.karpenter.sh/general\n");
  });

  test("wrong ones are refused by schema and by rule", async () => {
    expect(await refused(`apply -f ${session.file("heavy.yaml", pool("1000"))}`)).toContain("spec.weight: Invalid value: 1000");
    const typo = session.file("typo-pool.yaml", pool("10").replace("weight:", "wait:"));
    expect(await refused(`apply -f ${typo}`)).toContain('unknown field "spec.wait"');
  });
});

describe("endings", () => {
  test("finalizers hold an object, and none can be added to one that goes", async () => {
    await ok("create configmap held --from-literal=a=b");
    await ok(`patch cm held --type=merge -p '{"metadata":{"finalizers":["joinery.dev/hold"]}}'`);
    await ok("delete cm held --wait=false");
    expect(await refused(`patch cm held --type=merge -p '{"metadata":{"finalizers":["joinery.dev/hold","joinery.dev/more"]}}'`)).toContain(
      "Forbidden: no new finalizers can be added if the object is being deleted",
    );
    await ok(`patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'`);
    expect(await refused("get cm held")).toContain("NotFound");
  });

  test("deleting a deployment takes its pods along", async () => {
    expect(await ok("delete deploy web --cascade=foreground --timeout=40s")).toContain('deployment.apps "web" deleted');
    expect(await ok("get rs,pods -l app=web -o name")).toBe("");
  });

  test("a namespace goes with what is in it", async () => {
    expect(await ok("create namespace team")).toBe("namespace/team created\n");
    await ok("create configmap c --from-literal=a=b -n team");
    expect(await ok("delete namespace team --timeout=40s")).toContain('namespace "team" deleted');
    expect(await refused("get cm c -n team")).toContain("NotFound");
  });

  test("errors say what is wrong", async () => {
    expect(await refused("get foos")).toBe(`error: the server doesn't have a resource type "foos"\n`);
    expect(await refused("get pods nope")).toBe('Error from server (NotFound): pods "nope" not found\n');
    expect(await refused("run Bad --image=x")).toContain('* metadata.name: Invalid value: "Bad"');
    expect(await refused("get pods --field-selector=spec.foo=1")).toContain("field label not supported: spec.foo");
  });
});
