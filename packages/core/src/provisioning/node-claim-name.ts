/**
 * Names of new NodeClaims. They look like generated ones (`default-x7k2p`) but follow from the pods that the node is for: a second
 * leader, or the same one started anew, that plans a node for the same pods before it has seen the first one's NodeClaim arrives
 * at the same name, and the API server refuses the double. The number of the try tells a node that is really wanted again for
 * those pods from the first.
 */
import { derivedNameSuffix, generatedName } from "@joinery/kube";

/**
 * @param podUids of the pods that the node is planned for
 * @param isTaken whether a NodeClaim of that name is known
 */
export function nodeClaimName(nodePool: string, podUids: readonly string[], isTaken: (name: string) => boolean): string {
  const anchor = [...podUids].sort()[0] ?? "";
  for (let attempt = 0; ; attempt++) {
    const name = generatedName(`${nodePool}-`, derivedNameSuffix(`${nodePool}/${anchor}/${attempt}`));
    if (!isTaken(name)) return name;
  }
}
