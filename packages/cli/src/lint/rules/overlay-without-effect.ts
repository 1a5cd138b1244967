/** NodeOverlays that conflict with another, or that speak of no type. Rules L-228…L-231, A-54. */
import { NodeOverlays } from "@joinery/api";
import { overlayFault } from "../../plan/overlaid-catalogue.ts";
import { nameOf } from "../located.ts";
import type { Rule } from "../rule.ts";

export const overlayWithoutEffect: Rule = {
  name: "overlay-without-effect",
  severity: "error",
  summary: "A NodeOverlay conflicts with another one and is applied nowhere, or no instance type meets its requirements.",
  *check({ objects, overlays, pools }) {
    if (pools.length === 0) return;
    for (const { object, manifest } of objects.of(NodeOverlays)) {
      const verdict = overlays.get(nameOf(object));
      // What is invalid has a finding of its own.
      if (verdict === undefined || verdict.kind === "invalid") continue;
      const message = overlayFault(verdict);
      if (message === undefined) continue;
      if (verdict.kind === "conflict") {
        const path =
          verdict.about === "price"
            ? ["spec", object.spec.price === undefined ? "priceAdjustment" : "price"]
            : ["spec", "capacity", verdict.about];
        yield { severity: "error", manifest, path, message, instead: "another spec.weight, or requirements that do not overlap" };
      } else {
        const instead =
          "labels that instance types, NodePool templates or the NodePool's name give; requirements of NodePools do not count";
        yield { severity: "warning", manifest, path: ["spec", "requirements"], message, instead };
      }
    }
  },
};
