/** A whole cluster in one process, for people and for tests. */
export { type ApiServer, type ApiServerOptions, createApiServer } from "./api-server/api-server.ts";
export { createGarbageCollector, type GarbageCollector, type GarbageCollectorOptions } from "./api-server/gc/garbage-collector.ts";
export type { ServedApi, ServeOptions } from "./api-server/serve/serve.ts";
export type { ContainerLog, LogLine } from "./api-server/verbs/container-log.ts";
export {
  createSimulatedEc2,
  type Ec2Control,
  INSTANCE_TIMING,
  type InstanceTiming,
  type Machine,
  type PoolSelector,
  type ScriptedFault,
  type SimulatedEc2,
  type SimulatedEc2Options,
  type Weather,
} from "./ec2/index.ts";
export type { FargateProfile, FargateProfiles, FargateProfileWish, FargateRefusal, FargateSubnet } from "./fargate/profiles.ts";
export { FargateError } from "./fargate/profiles.ts";
export type { FargateSelector } from "./fargate/selectors.ts";
export { capacityText, type FargateSize, type FargateSizing, fargateSize } from "./fargate/size.ts";
export type { KubeletTiming } from "./kubelet/kubelet.ts";
export type { Kubelets, KubeletsOptions } from "./kubelet/kubelets.ts";
export {
  createSimulatedRuntime,
  EXIT_CODE_ANNOTATION,
  type PodExit,
  type PodRun,
  type PodRuntime,
  READY_SECONDS_ANNOTATION,
  RUN_SECONDS_ANNOTATION,
  STOP_SECONDS_ANNOTATION,
} from "./kubelet/pod-runtime.ts";
export type { ClusterContext } from "./world/context.ts";
export { createWorld, WORLD_TIMING, type World, type WorldFault, type WorldOptions, type WorldTiming } from "./world/world.ts";
