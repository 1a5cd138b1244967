/** The simulated EC2. */
export type { PoolSelector } from "./capacity-pools.ts";
export type { ScriptedFault, Weather } from "./faults.ts";
export { INSTANCE_TIMING, type InstanceListeners, type InstanceTiming } from "./instances.ts";
export type { Machine } from "./machine.ts";
export { createSimulatedEc2, type Ec2Control, type SimulatedEc2, type SimulatedEc2Options } from "./simulated-ec2.ts";
