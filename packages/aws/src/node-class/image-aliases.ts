/** Which SSM parameters an alias such as `al2023@latest` stands for, and what each image is for. Rules I-1206, I-1208, I-1209. */
import { type NodeSelectorRequirement, OS_LABEL, WINDOWS_BUILD_LABEL } from "@joinery/api";

export type ImageVariant = "standard" | "nvidia" | "neuron" | "windows";

export interface AliasParameter {
  readonly path: string;
  readonly variants: readonly ImageVariant[];
}

const GPU_COUNT = "karpenter.k8s.aws/instance-gpu-count";
const ACCELERATOR_COUNT = "karpenter.k8s.aws/instance-accelerator-count";
const WINDOWS_BUILDS: Readonly<Record<string, string>> = { "2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100" };

export interface Alias {
  /** Lower case, as in the alias. */
  readonly family: string;
  readonly version: string;
}

/** Undefined where the text is no alias; a second `@` is one text that no image has. */
export function parseAlias(text: string): Alias | undefined {
  const parts = text.split("@");
  const [family = "", version = ""] = parts;
  return parts.length === 2 && family !== "" && version !== "" ? { family, version } : undefined;
}

/** I-1209: images that Kubernetes of that version has no more, or not yet. */
export function isUnsupported({ family }: Alias, kubernetesVersion: string): boolean {
  const minor = Number(kubernetesVersion.split(".")[1]);
  return (family === "al2" && minor >= 33) || (family === "windows2025" && minor < 35);
}

export function aliasParameters({ family, version }: Alias, kubernetesVersion: string): readonly AliasParameter[] {
  const eks = `/aws/service/eks/optimized-ami/${kubernetesVersion}`;
  const isLatest = version === "latest";
  switch (family) {
    case "al2023":
      return AL2023.map(({ architecture, variant }) => {
        const name = isLatest ? "recommended" : `amazon-eks-node-al2023-${architecture}-${variant}-${kubernetesVersion}-${version}`;
        return { path: `${eks}/amazon-linux-2023/${architecture}/${variant}/${name}/image_id`, variants: [variant] };
      });
    case "al2":
      return AL2.map(({ folder, prefix, variants }) => {
        const name = isLatest ? "recommended" : `${prefix}-${kubernetesVersion}-${version}`;
        return { path: `${eks}/${folder}/${name}/image_id`, variants };
      });
    case "bottlerocket":
      return BOTTLEROCKET.map(({ suffix, architecture, variants }) => ({
        path: `/aws/service/bottlerocket/aws-k8s-${kubernetesVersion}${suffix}/${architecture}/${version.replace(/^v+/, "")}/image_id`,
        variants,
      }));
    default: {
      const year = family.replace("windows", "");
      const path = `/aws/service/ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetesVersion}/image_id`;
      return [{ path, variants: ["windows"] }];
    }
  }
}

/** Without the architecture, which the image itself tells. */
export function variantRequirements(variant: ImageVariant, { family }: Alias): readonly NodeSelectorRequirement[] {
  switch (variant) {
    case "standard":
      return [
        { key: GPU_COUNT, operator: "DoesNotExist" },
        { key: ACCELERATOR_COUNT, operator: "DoesNotExist" },
      ];
    case "nvidia":
      return [{ key: GPU_COUNT, operator: "Exists" }];
    case "neuron":
      return [{ key: ACCELERATOR_COUNT, operator: "Exists" }];
    case "windows":
      return [
        { key: OS_LABEL, operator: "In", values: ["windows"] },
        { key: WINDOWS_BUILD_LABEL, operator: "In", values: [WINDOWS_BUILDS[family.replace("windows", "")] ?? ""] },
      ];
  }
}

const AL2023 = [
  { architecture: "x86_64", variant: "standard" },
  { architecture: "x86_64", variant: "nvidia" },
  { architecture: "x86_64", variant: "neuron" },
  { architecture: "arm64", variant: "standard" },
  { architecture: "arm64", variant: "nvidia" },
] as const;
const AL2: readonly { readonly folder: string; readonly prefix: string; readonly variants: readonly ImageVariant[] }[] = [
  { folder: "amazon-linux-2", prefix: "amazon-eks-node", variants: ["standard"] },
  { folder: "amazon-linux-2-arm64", prefix: "amazon-eks-arm64-node", variants: ["standard"] },
  { folder: "amazon-linux-2-gpu", prefix: "amazon-eks-gpu-node", variants: ["neuron", "nvidia"] },
];
const BOTTLEROCKET: readonly { readonly suffix: string; readonly architecture: string; readonly variants: readonly ImageVariant[] }[] = [
  { suffix: "", architecture: "x86_64", variants: ["standard", "neuron"] },
  { suffix: "", architecture: "arm64", variants: ["standard"] },
  { suffix: "-nvidia", architecture: "x86_64", variants: ["nvidia"] },
  { suffix: "-nvidia", architecture: "arm64", variants: ["nvidia"] },
];
