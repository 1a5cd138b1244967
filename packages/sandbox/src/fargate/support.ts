/** What Fargate does not run. Rules F-36, F-83. */
import type { Container, Pod } from "@joinery/api";

interface SecureContainer extends Container {
  readonly securityContext?: { readonly privileged?: boolean; readonly allowPrivilegeEscalation?: boolean };
}

/** Volume sources that Fargate mounts; claims only where their driver is EFS, which this cluster has not. */
const VOLUMES: ReadonlySet<string> = new Set(["configMap", "secret", "downwardAPI", "projected", "emptyDir", "name"]);

/** No devices, no huge pages. */
const RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** In the words of fargate-scheduler's events; undefined for a pod that it runs. */
export function unsupportedReason({ spec }: Pod): string | undefined {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])] as readonly SecureContainer[];
  const fields = [
    ...(containers.some(({ securityContext }) => securityContext?.privileged === true) ? ["Privileged"] : []),
    ...(containers.some(({ securityContext }) => securityContext?.allowPrivilegeEscalation === true) ? ["AllowPrivilegeEscalation"] : []),
  ];
  if (fields.length > 0) {
    return `invalid SecurityContext fields: ${fields.join(", ")}`;
  }
  if (spec.hostNetwork === true) {
    return "HostNetwork is not supported";
  }
  if (containers.some(({ ports }) => (ports ?? []).some(({ hostPort = 0 }) => hostPort > 0))) {
    return "port HostPort is not supported";
  }
  const resource = containers
    .flatMap(({ resources }) => Object.keys({ ...resources?.requests, ...resources?.limits }))
    .find((name) => !RESOURCES.has(name));
  if (resource !== undefined) {
    return `resource ${resource} is not supported`;
  }
  const volume = (spec.volumes ?? []).find((one) => Object.keys(one).some((source) => !VOLUMES.has(source)));
  return volume === undefined ? undefined : `volumes not supported: ${volume.name} is of an unsupported volume type`;
}
