/** The EC2 cloud provider. */

export { type AwsMetrics, createAwsMetrics } from "./aws-metrics.ts";
export { type BuiltInCatalogue, builtInCatalogue, loadBuiltInCatalogue, VM_MEMORY_OVERHEAD_DEFAULT } from "./catalogue/built-in.ts";
export type { Source } from "./catalogue/columns.ts";
export {
  CATALOGUE_REGIONS,
  type CatalogueRegion,
  type Ec2Catalogue,
  loadEc2Catalogue,
  type StaticTables,
  type Zone,
} from "./catalogue/ec2-catalogue.ts";
export type { ClusterFacts } from "./cluster-facts.ts";
export type { ControllerRooms, ProviderController } from "./controllers.ts";
export { AwsError, type AwsFault, hasAwsCode, isAwsNotFound } from "./ec2/aws-error.ts";
export type * from "./ec2/ec2-port.ts";
export { ec2PortOf, handlerOf } from "./ec2/ec2-port.ts";
export type * from "./ec2/instance-type-info.ts";
export type * from "./ec2/launch-shapes.ts";
export { createHttpEc2Port, EC2_PATH_PREFIX, handleEc2Request } from "./ec2/loopback.ts";
export { waitingOnNodeClaims } from "./events.ts";
export { capacityOf, type MachineSettings } from "./instance-types/capacity.ts";
export { type Family, familyNamed } from "./instance-types/family.ts";
export { overheadOf } from "./instance-types/overhead.ts";
export { instanceIdOf } from "./instances/instance-view.ts";
export { type AwsProvider, type AwsProviderOptions, createAwsProvider } from "./provider.ts";
