/** What the volumes of a pool's nodes cost, as far as its node class says how large they are. */
import { type Ec2NodeClass, parseResources } from "@joinery/api";
import { VOLUME_USD_PER_GIB_HOUR } from "@joinery/scheduling";

const GIB = 2 ** 30;

/** USD per hour of gp3 for all volumes; undefined where the class leaves them to its image. */
export function volumesUsdPerHour(nodeClass: Ec2NodeClass): number | undefined {
  const sizes = (nodeClass.spec?.blockDeviceMappings ?? []).flatMap(({ ebs }) => ebs?.volumeSize ?? []);
  if (sizes.length === 0) return undefined;
  const bytes = sizes.reduce((sum, size) => sum + (parseResources({ storage: size }).storage ?? 0), 0);
  return (bytes / GIB) * VOLUME_USD_PER_GIB_HOUR;
}
