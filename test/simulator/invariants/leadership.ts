/** Only one replica acts: whoever writes, or calls the cloud, holds the Lease at that very moment. Rules L-249, O-73…O-83. */
import type { Truth } from "../truth.ts";
import { Violation } from "../violation.ts";

const ACTIONS: ReadonlySet<string> = new Set([
  "createFleet",
  "terminateInstances",
  "createTags",
  "createLaunchTemplate",
  "deleteLaunchTemplate",
  "createInstanceProfile",
  "addRoleToInstanceProfile",
  "removeRoleFromInstanceProfile",
  "deleteInstanceProfile",
]);

/** Whether a request changes the cluster. The Lease is how one comes to lead, and Events may say that one does not. */
export function isAction(method: string, path: string): boolean {
  return method !== "GET" && !path.includes("/leases") && !/\/events(\/|$)/.test(path);
}

export function isCloudAction(name: string): boolean {
  return ACTIONS.has(name);
}

/** Throws a Violation. */
export function checkLeads(truth: Truth, replica: string, action: string): void {
  const holder = truth.leaseHolder();
  if (holder !== replica) throw new Violation("one replica acts", `${replica} does ${action}, and the Lease is held by "${holder}"`);
}
