/** How the checks of an object say what is wrong: at which field, what, and what would be right. */
import type { FieldPath } from "../field-path.ts";

export interface Report {
  error(path: FieldPath, message: string): void;
}
