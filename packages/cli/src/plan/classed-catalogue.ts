/** The catalogue as the node classes of the input make it: root volume, image family, kubelet and subnets decide what a type offers. */
import { Ec2NodeClasses, type NodePool } from "@joinery/api";
import type { Catalogue } from "./catalogue.ts";
import type { ObjectSource } from "./input.ts";

export function classedCatalogue(catalogue: Catalogue, source: ObjectSource): Catalogue {
  const { typesOf } = catalogue;
  if (typesOf === undefined) return catalogue;
  const classes = new Map(source.of(Ec2NodeClasses).map((nodeClass) => [nodeClass.metadata?.name, nodeClass]));
  return { ...catalogue, typesFor: ({ spec }: NodePool) => typesOf(classes.get(spec.template.spec.nodeClassRef.name)) };
}
