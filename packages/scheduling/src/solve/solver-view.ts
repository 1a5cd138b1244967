import type { Topology } from "../topology/topology.ts";
import type { ExistingNodes } from "./existing-nodes.ts";
import type { OpenClaims } from "./open-claims.ts";
import type { PodClasses } from "./pod-classes.ts";
import type { Reservations } from "./reservations.ts";
import type { ResourceAxis } from "./resource-axis.ts";
import type { Template } from "./template.ts";

/** What a solve knows, for those who ask why. Borrowed: it changes with every pod that is placed. */
export interface SolverView {
  /** Of all pools in their order, also those that were left out; limits as far as they are used by then. */
  readonly templates: readonly Template[];
  readonly axis: ResourceAxis;
  readonly nodes: ExistingNodes;
  /** In the order in which they were opened. */
  readonly claims: OpenClaims;
  readonly reservations: Reservations;
  readonly classes: PodClasses;
  readonly topology: Topology;
}
