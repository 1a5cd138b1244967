/** `--cloud-provider` → what core makes a provider of. Each is loaded when it is chosen. */
import { AWS_VOCABULARY, Ec2NodeClasses, KWOK_VOCABULARY, KwokNodeClasses } from "@joinery/api";
import type { AwsMetrics } from "@joinery/aws";
import type { Logger, ProviderFactory } from "@joinery/core";
import { type Clock, createHttpTransport } from "@joinery/kube";
import { CommandError, exitStatus } from "../exit-status.ts";
import { readCatalogueFile, withOfferedKeys } from "../plan/catalogue.ts";
import type { Settings } from "./setting-table.ts";

/** @param instanceTypesFile `--instance-types-file-path`; a catalogue like that of Karpenter's KWOK provider when absent */
export async function kwokFactory(instanceTypesFile: string | undefined): Promise<ProviderFactory> {
  const { builtInKwokCatalogue, createKwokProvider } = await import("@joinery/kwok");
  const catalogue = instanceTypesFile === undefined ? builtInKwokCatalogue() : (await readCatalogueFile(instanceTypesFile)).types;
  return {
    nodeClassKinds: [KwokNodeClasses],
    vocabulary: withOfferedKeys(KWOK_VOCABULARY, catalogue),
    create: ({ kube, clock, random }) => ({ cloud: createKwokProvider({ client: kube, clock, random, catalogue }) }),
  };
}

export interface AwsFactoryOptions {
  readonly settings: Settings;
  readonly ec2Endpoint: string | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  /** The machine's own: requests time out by it. */
  readonly machineClock: Clock;
  readonly server: string;
  /** Gets what must be closed at the end. */
  readonly closing: (() => Promise<void>)[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A provider's loop says what failed and goes on; the log is the controller's.
 * `--ec2-endpoint` is the way to a simulated EC2; the adapter to the real one is not part of this version.
 */
export async function awsFactory({
  settings,
  ec2Endpoint,
  clock,
  machineClock,
  server,
  env,
  closing,
}: AwsFactoryOptions): Promise<ProviderFactory> {
  if (ec2Endpoint === undefined) {
    throw new CommandError("ec2-endpoint: this version reaches a simulated EC2 only; give --ec2-endpoint URL", exitStatus.badInput);
  }
  const { createAwsMetrics, createAwsProvider, createHttpEc2Port, waitingOnNodeClaims } = await import("@joinery/aws");
  const transport = createHttpTransport({ server: ec2Endpoint, clock: machineClock });
  closing.push(() => transport.close());
  const ec2 = createHttpEc2Port(transport);
  const { clusterName, clusterEndpoint, vmMemoryOverheadPercent, reservedEnis, isolatedVpc } = settings;
  // O-2: now, and not anew with each term of leadership.
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1";
  let metrics: AwsMetrics | undefined; // of the first term and all later ones
  return {
    nodeClassKinds: [Ec2NodeClasses],
    vocabulary: AWS_VOCABULARY,
    async create({ kube, random, log, events, registry, nodeClaims }) {
      metrics ??= createAwsMetrics(registry);
      const provider = await createAwsProvider({
        ec2,
        client: kube,
        clock,
        random,
        clusterName,
        region,
        cluster: { endpoint: clusterEndpoint || server },
        vmMemoryOverheadPercent,
        reservedEnis,
        isIsolatedVpc: isolatedVpc,
        metrics,
        events,
      });
      const onError = (controller: string, name: string, error: unknown) =>
        log.error({ controller, name, error: error instanceof Error ? error.message : String(error) }, "Reconciler error");
      const loops = provider.controllers({
        nodeClaims,
        onError,
        onWaiting: (nodeClass, message) => events.publish(waitingOnNodeClaims(nodeClass, message)),
      });
      return { cloud: provider, loops };
    },
  };
}
