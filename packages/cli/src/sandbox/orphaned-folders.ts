/** Folders of sandboxes that were killed and could not tidy up: each says whose it is, and the next sandbox takes the orphans away. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

export const FOLDER_PREFIX = "joinery-sandbox-";
/** A folder without it is nobody's orphan: it is being made, or was kept on purpose. */
export const OWNER_FILE = "owner.json";

interface Owner {
  readonly pid: number;
  /** Where this process ID means anything: containers may share a folder for temporary files, but not their processes. */
  readonly scope: string;
}

export function markOwner(folder: string, owner: Owner = { pid: process.pid, scope: scopeOfPids() }): void {
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
}

/** Removes folders of this user whose process is dead. What cannot be read or removed stays. Gives the paths of what it removed. */
export function sweepOrphans(parent: string): readonly string[] {
  return namesIn(parent)
    .filter((name) => name.startsWith(FOLDER_PREFIX))
    .map((name) => join(parent, name))
    .filter((path) => isOwnFolder(path) && isOrphan(path) && isRemoved(path));
}

function isOrphan(folder: string): boolean {
  const owner = readOwner(folder);
  return owner !== undefined && owner.scope === scopeOfPids() && !isAlive(owner.pid);
}

function readOwner(folder: string): Owner | undefined {
  try {
    const { pid, scope } = JSON.parse(readFileSync(join(folder, OWNER_FILE), "utf8")) as Partial<Owner>;
    return Number.isInteger(pid) && Number(pid) > 0 && typeof scope === "string" ? { pid: Number(pid), scope } : undefined;
  } catch {
    return undefined;
  }
}

/** Not a link to elsewhere, and of nobody else. */
function isOwnFolder(path: string): boolean {
  try {
    const found = lstatSync(path);
    return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Whatever else it says, something is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function scopeOfPids(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}
