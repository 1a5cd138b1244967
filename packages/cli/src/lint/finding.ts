/** What `lint` says about one field of one object. Formats: "Output of joinery lint". */
import type { FieldPath } from "../manifests/field-path.ts";
import type { Manifest } from "../manifests/manifest.ts";

/** `error`: it cannot work; `warning`: surely not meant; `note`: worth knowing, or not to be decided from this input. */
export type Severity = "error" | "warning" | "note";

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  /** For an object of a cluster `cluster:Kind/namespace/name`. */
  readonly file: string;
  /** From 1; absent for an object of a cluster, as is the column. */
  readonly line?: number;
  readonly column?: number;
  /** `Kind/name`, with the namespace in front where there is one: `shop/Deployment/web`. */
  readonly object: string;
  /** As people write it: `spec.limits.cpu`; "" for the object itself. */
  readonly path: string;
  /** What happens. */
  readonly message: string;
  /** What to write instead. */
  readonly instead: string;
}

/** What a rule says; the runner adds the rule's name and the position in the file. */
export interface Remark {
  readonly severity: Severity;
  readonly manifest: Manifest;
  readonly path: FieldPath;
  readonly message: string;
  readonly instead: string;
}
