/** The EKS-optimised images and the SSM parameters that name the recommended ones (section 12.2 of the instance type chapter). */
import { AwsError, type Image } from "@joinery/aws";

const OWNER = "602401143452";
const VARIANTS = [
  { architecture: "x86_64", variant: "standard" },
  { architecture: "arm64", variant: "standard" },
  { architecture: "x86_64", variant: "nvidia" },
  { architecture: "arm64", variant: "nvidia" },
  { architecture: "x86_64", variant: "neuron" },
] as const;

export class Images {
  readonly images = new Map<string, Image>();
  readonly #parameters = new Map<string, string>();

  constructor(kubernetesVersion: string, createdAt: string) {
    for (const [index, { architecture, variant }] of VARIANTS.entries()) {
      const name = `amazon-eks-node-al2023-${architecture}-${variant}-${kubernetesVersion}-v20261120`;
      const id = `ami-0${String(index + 1).padStart(16, "0")}`;
      this.publish({
        ImageId: id,
        Name: name,
        Architecture: architecture,
        CreationDate: createdAt,
        State: "available",
        OwnerId: OWNER,
        Tags: [],
      });
      const path = `/aws/service/eks/optimized-ami/${kubernetesVersion}/amazon-linux-2023/${architecture}/${variant}`;
      this.setParameter(`${path}/recommended/image_id`, id);
      this.setParameter(`${path}/${name}/image_id`, id);
    }
  }

  publish(image: Image): void {
    this.images.set(image.ImageId, image);
  }

  setParameter(name: string, value: string): void {
    this.#parameters.set(name, value);
  }

  getParameter(name: string): { readonly Name: string; readonly Value: string } {
    const value = this.#parameters.get(name);
    if (value === undefined) throw new AwsError("ParameterNotFound", `The parameter ${name} does not exist`);
    return { Name: name, Value: value };
  }
}
