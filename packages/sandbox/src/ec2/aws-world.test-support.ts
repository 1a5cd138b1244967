/** The AWS provider against the simulated EC2 and the API server in process, under one virtual clock. */
import { CustomResourceDefinitions, crdOf, type Ec2NodeClass, Ec2NodeClasses, type NodeClaim, NodeClaims, OWNED_KINDS } from "@joinery/api";
import { type AwsProvider, createAwsProvider, type Ec2Catalogue, loadEc2Catalogue } from "@joinery/aws";
import { createCache, createKubeClient, createRandom, createVirtualClock, type KubeClient, type VirtualClock } from "@joinery/kube";
import { createApiServer } from "../api-server/api-server.ts";
import type { Weather } from "./faults.ts";
import type { InstanceTiming } from "./instances.ts";
import { createSimulatedEc2, type SimulatedEc2 } from "./simulated-ec2.ts";

const START = Date.parse("2026-12-01T00:00:00Z");
const CLUSTER = "demo";
/** Enough to choose from, and quick. */
const FAMILIES = /^(m5|c5|r5|m6g|c7g|t3|g4dn|inf2|a1)\./;
let catalogue: Promise<Ec2Catalogue> | undefined;

export interface AwsWorld {
  readonly clock: VirtualClock;
  readonly ec2: SimulatedEc2;
  readonly client: KubeClient;
  readonly provider: AwsProvider;
  /** As another process would have it. */
  makeProvider(): Promise<AwsProvider>;
  /** Time goes on until the call has ended. */
  finish<T>(call: Promise<T>): Promise<T>;
  /** Runs the provider's controllers from now on. */
  lead(): void;
  readonly errors: unknown[];
  /** Why node classes wait (W-320.1). */
  readonly waiting: string[];
  stop(): void;
}

export interface AwsWorldOptions {
  readonly seed?: string | number;
  readonly weather?: Partial<Weather>;
  readonly timing?: Partial<InstanceTiming>;
}

export async function anAwsWorld({ seed = 1, weather, timing }: AwsWorldOptions = {}): Promise<AwsWorld> {
  catalogue ??= loadEc2Catalogue();
  const whole = await catalogue;
  const known = { ...whole, types: whole.types.filter(({ InstanceType }) => FAMILIES.test(InstanceType)) };
  const clock = createVirtualClock({ startMs: START });
  const random = createRandom(seed);
  const server = createApiServer({ clock, random: random.split("api") });
  const client = createKubeClient(server.transport());
  for (const kind of OWNED_KINDS) await client.create(CustomResourceDefinitions, crdOf(kind));
  const ec2 = createSimulatedEc2({ clock, random: random.split("ec2"), catalogue: known, clusterName: CLUSTER, weather, timing });
  const makeProvider = () =>
    createAwsProvider({
      ec2,
      client,
      clock,
      random: random.split("provider"),
      clusterName: CLUSTER,
      region: "us-east-1",
      catalogue: known,
    });
  const provider = await makeProvider();
  const stopping = new AbortController();
  const errors: unknown[] = [];
  const waiting: string[] = [];
  return {
    clock,
    ec2,
    client,
    provider,
    makeProvider,
    errors,
    waiting,
    async finish(call) {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      call.then(done, done);
      await clock.runUntil(() => isDone, 3_600_000);
      if (!isDone) throw new Error("the call did not end within an hour");
      return call;
    },
    lead() {
      const nodeClaims = createCache(client, NodeClaims, { clock, random });
      void nodeClaims.start(stopping.signal);
      const onError = (_: string, __: string, error: unknown) => void errors.push(error);
      for (const controller of provider.controllers({ nodeClaims, onError, onWaiting: (_, message) => void waiting.push(message) }))
        void controller.run(stopping.signal);
    },
    stop: () => stopping.abort(),
  };
}

export function aNodeClass(changes: Partial<NonNullable<Ec2NodeClass["spec"]>> = {}, name = "default"): Ec2NodeClass {
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name },
    spec: {
      role: "KarpenterNodeRole-demo",
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
      securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
      ...changes,
    },
  };
}

export function aClaim(
  changes: { readonly uid?: string; readonly requirements?: NodeClaim["spec"]["requirements"]; readonly cpu?: string } = {},
): NodeClaim {
  const { uid = "4c1e6f0e-8a38-4d4d-9b5e-0d8c8c3f0001", requirements = [], cpu = "1500m" } = changes;
  return {
    metadata: { name: `default-${uid.slice(-5)}`, uid, labels: { "karpenter.sh/nodepool": "default", team: "web" } },
    spec: {
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }, ...requirements],
      resources: { requests: { cpu, memory: "2Gi", pods: "5" } },
      taints: [{ key: "dedicated", value: "web", effect: "NoSchedule" }],
    },
  };
}

/** A world whose node class is Ready. */
export async function aReadyWorld(options: AwsWorldOptions = {}, nodeClass: Ec2NodeClass = aNodeClass()): Promise<AwsWorld> {
  const world = await anAwsWorld(options);
  await world.client.create(Ec2NodeClasses, nodeClass);
  world.lead();
  await world.clock.advance(60_000);
  return world;
}
