/** `FEATURE_GATES`: which features of changing maturity are on. Rules O-45…O-56, V-2. */

export interface FeatureGates {
  readonly NodeRepair: boolean;
  readonly ReservedCapacity: boolean;
  readonly SpotToSpotConsolidation: boolean;
  readonly NodeOverlay: boolean;
  readonly StaticCapacity: boolean;
  readonly CapacityBuffer: boolean;
  readonly TerminateFirstDrift: boolean;
  readonly TerminateFirstRepair: boolean;
  readonly PodDeletionCostManagement: boolean;
}

export const DEFAULT_GATES: FeatureGates = {
  NodeRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  NodeOverlay: false,
  StaticCapacity: false,
  CapacityBuffer: false,
  TerminateFirstDrift: false,
  TerminateFirstRepair: false,
  PodDeletionCostManagement: false,
};

export type GatesOutcome =
  | { readonly kind: "gates"; readonly gates: FeatureGates; readonly unknown: readonly string[] }
  | { readonly kind: "invalid"; readonly message: string };

/** Was one once, and is on for good (O-52). */
const RETIRED: ReadonlySet<string> = new Set(["Drift"]);

/** `Name=bool` pairs; unknown names are ignored and named, gates not named keep their default (O-53…O-55). */
export function parseFeatureGates(text: string): GatesOutcome {
  const gates: Record<string, boolean> = { ...DEFAULT_GATES };
  const unknown: string[] = [];
  for (const pair of text.split(",")) {
    const trimmed = pair.trim();
    if (trimmed === "") continue;
    const at = trimmed.indexOf("=");
    const name = trimmed.slice(0, at === -1 ? undefined : at).trim();
    const value = at === -1 ? "" : trimmed.slice(at + 1).trim();
    const isOn = /^(1|t|T|TRUE|true|True)$/.test(value);
    if (at === -1) return { kind: "invalid", message: `"${trimmed}" has no value; write ${name}=true or ${name}=false` };
    if (!isOn && !/^(0|f|F|FALSE|false|False)$/.test(value))
      return { kind: "invalid", message: `"${value}" of ${name} is neither true nor false` };
    if (Object.hasOwn(DEFAULT_GATES, name)) gates[name] = isOn;
    else if (!RETIRED.has(name)) unknown.push(name);
  }
  return { kind: "gates", gates: gates as unknown as FeatureGates, unknown };
}
