/** Launch templates by name. Nothing here changes a template: a new content has a new name (W-511). */
import { AwsError, type LaunchTemplate, type LaunchTemplateData, type Tag } from "@joinery/aws";

export interface StoredTemplate extends LaunchTemplate {
  readonly data: LaunchTemplateData;
}

export class LaunchTemplates {
  readonly #byName = new Map<string, StoredTemplate>();
  #count = 0;

  create(name: string, data: LaunchTemplateData, Tags: readonly Tag[]): StoredTemplate {
    if (this.#byName.has(name))
      throw new AwsError("InvalidLaunchTemplateName.AlreadyExistsException", `Launch template name already in use: ${name}`);
    this.#count++;
    const template = { LaunchTemplateId: `lt-${this.#count.toString(16).padStart(17, "0")}`, LaunchTemplateName: name, Tags, data };
    this.#byName.set(name, template);
    return template;
  }

  get(name: string): StoredTemplate {
    const template = this.#byName.get(name);
    if (template === undefined) {
      throw new AwsError(
        "InvalidLaunchTemplateName.NotFoundException",
        `At least one of the launch templates specified in the request does not exist: ${name}`,
      );
    }
    return template;
  }

  all(): readonly StoredTemplate[] {
    return [...this.#byName.values()];
  }

  delete({ LaunchTemplateId, LaunchTemplateName }: Partial<LaunchTemplate>): void {
    if (LaunchTemplateName !== undefined) {
      this.#byName.delete(this.get(LaunchTemplateName).LaunchTemplateName);
      return;
    }
    const found = this.all().find((template) => template.LaunchTemplateId === LaunchTemplateId);
    if (found === undefined)
      throw new AwsError("InvalidLaunchTemplateId.NotFound", `The specified launch template ${LaunchTemplateId} does not exist`);
    this.#byName.delete(found.LaunchTemplateName);
  }
}
