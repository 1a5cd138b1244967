/** Requests and limits of containers: names, signs, and requests that do not exceed limits. */
import { parseQuantity, type QuantityText, type ResourceRequirements, type ResourceTexts } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { qualifiedName } from "./names.ts";
import type { Report } from "./report.ts";

const STANDARD = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/;
const NATIVE_DOMAIN = /^([^/]+\.)?kubernetes\.io\//;

export function checkContainerResources(resources: ResourceRequirements | undefined | null, path: FieldPath, report: Report): void {
  const { requests, limits } = resources ?? {};
  checkAmounts(limits, [...path, "limits"], report);
  checkAmounts(requests, [...path, "requests"], report);
  for (const name in requests) checkAgainstLimit(name, requests[name]!, limits?.[name], [...path, "requests", name], report);
}

export function checkOverhead(overhead: ResourceTexts | undefined | null, path: FieldPath, report: Report): void {
  checkAmounts(overhead, path, report);
}

function checkAmounts(amounts: ResourceTexts | undefined | null, path: FieldPath, report: Report): void {
  for (const name in amounts) {
    const at = [...path, name];
    if (!STANDARD.test(name) && (qualifiedName(name) !== undefined || !name.includes("/"))) {
      report.error(at, `"${name}" is no resource; use cpu, memory, ephemeral-storage or a qualified name such as nvidia.com/gpu`);
    }
    const nanos = nanosOf(amounts[name]);
    if (nanos !== undefined && nanos < 0n) report.error(at, `must not be negative, is ${amounts[name]}`);
    if (nanos !== undefined && isExtended(name) && nanos % 1_000_000_000n !== 0n)
      report.error(at, `must be a whole number, is ${amounts[name]}`);
  }
}

function checkAgainstLimit(name: string, request: QuantityText, limit: QuantityText | undefined, path: FieldPath, report: Report): void {
  const asked = nanosOf(request);
  const most = nanosOf(limit);
  const mustEqual = isExtended(name) || name.startsWith("hugepages-");
  if (asked === undefined) return;
  if (most === undefined) {
    if (mustEqual) report.error(path, `needs an equal limit; add limits.${name}: ${request}`);
  } else if (mustEqual ? asked !== most : asked > most) {
    report.error(path, `must be ${mustEqual ? "equal to" : "at most"} the limit ${limit}, is ${request}`);
  }
}

/** Devices and the like: counted, never shared. */
function isExtended(name: string): boolean {
  return !STANDARD.test(name) && name.includes("/") && !NATIVE_DOMAIN.test(name);
}

function nanosOf(text: QuantityText | undefined | null): bigint | undefined {
  return text === undefined || text === null ? undefined : parseQuantity(text)?.nanos;
}
