/** What the schema engine finds wrong, as a cause of a Status. */
import { formatPath, type Issue } from "@joinery/api";
import type { FieldFault } from "./status.ts";

export function issueFault({ path, code, message }: Issue): FieldFault {
  return { kind: "worded", field: formatPath(path), reason: code, message };
}
