/** What of `spec.kubelet` bears on how much a node offers. Rules I-202, I-404, I-604…I-608, W-233; the whole check of the field comes with the validation chapter. */
import { type Ec2NodeClassSpec, parseQuantity, parseResources, type Resources } from "@joinery/api";

export interface KubeletSettings {
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  /** Signal → quantity or percentage. */
  readonly evictionHard: Readonly<Record<string, string>>;
}

export type KubeletReading =
  | { readonly kind: "settings"; readonly settings: KubeletSettings }
  | { readonly kind: "invalid"; readonly reason: "InvalidKubeletConfiguration" | "KubeletExpressionsDisabled"; readonly message: string };

export const NO_KUBELET_SETTINGS: KubeletSettings = { kubeReserved: {}, systemReserved: {}, evictionHard: {} };

export function readKubelet(kubelet: Ec2NodeClassSpec["kubelet"]): KubeletReading {
  if (kubelet === undefined) return { kind: "settings", settings: NO_KUBELET_SETTINGS };
  const faults: string[] = [];
  const expressions: string[] = [];
  const maxPods = typeof kubelet.maxPods === "string" ? note(expressions, "maxPods") : count(kubelet.maxPods, "maxPods", faults);
  const podsPerCore = count(kubelet.podsPerCore, "podsPerCore", faults);
  const kubeReserved = reserved(kubelet.kubeReserved, "kubeReserved", faults, expressions);
  const systemReserved = reserved(kubelet.systemReserved, "systemReserved", faults, expressions);
  const evictionHard = texts(kubelet.evictionHard, "evictionHard", faults);
  for (const [signal, value] of Object.entries(evictionHard)) {
    if (!isThreshold(value)) faults.push(`evictionHard[${signal}]: "${value}" is neither a quantity nor a percentage`);
  }
  if (faults.length > 0) return { kind: "invalid", reason: "InvalidKubeletConfiguration", message: `spec.kubelet.${faults.join("; ")}` };
  if (expressions.length > 0) {
    const message = "spec.kubelet contains a CEL expression, but the NodeClassCEL feature gate is disabled";
    return { kind: "invalid", reason: "KubeletExpressionsDisabled", message };
  }
  return { kind: "settings", settings: { maxPods, podsPerCore, kubeReserved, systemReserved, evictionHard } };
}

/** I-608: bytes of a threshold; `100%` switches it off. */
export function thresholdBytes(text: string, capacity: number): number {
  if (!text.endsWith("%")) return parseResources({ memory: text }).memory ?? 0;
  const percent = Number(text.slice(0, -1));
  return percent === 100 ? 0 : Math.ceil((capacity / 100) * percent);
}

function count(value: unknown, field: string, faults: string[]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  faults.push(`${field}: must be a whole number from 0`);
  return undefined;
}

function reserved(value: unknown, field: string, faults: string[], expressions: string[]): Resources {
  const entries = Object.entries(texts(value, field, faults)).filter(([key, text]) => {
    const quantity = parseQuantity(text);
    if (quantity === undefined) note(expressions, `${field}.${key}`);
    else if (quantity.nanos < 0n) faults.push(`${field}[${key}]: "${text}" is negative`);
    return quantity !== undefined && quantity.nanos >= 0n;
  });
  return parseResources(Object.fromEntries(entries));
}

function texts(value: unknown, field: string, faults: string[]): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const isMap =
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every((item) => typeof item === "string");
  if (!isMap) faults.push(`${field}: must be a map of texts`);
  return isMap ? (value as Record<string, string>) : {};
}

function isThreshold(text: string): boolean {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  return percent === undefined ? parseQuantity(text) !== undefined : Number(percent) <= 100;
}

function note(expressions: string[], field: string): undefined {
  expressions.push(field);
}
