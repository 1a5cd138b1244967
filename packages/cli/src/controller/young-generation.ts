/**
 * Room for new objects. V8 sizes it by the memory of the container: 1 MiB where that is at most 512 MiB, too little for a controller at
 * work, which is then collected a hundred times a second. Only the command line can change it, so the process takes its own place with one flag
 * more, which costs a quarter of a core 0.2 s once.
 */

const FLAG = "--max-semi-space-size";
/** Two of these are taken. With 8 a busy controller came close to the limit of the smallest container, where it is collected whole time and again. */
const SEMI_SPACE_MIB = 4;
const SMALL_BYTES = 512 * 2 ** 20;

type Self = Pick<NodeJS.Process, "argv" | "constrainedMemory" | "env" | "execArgv" | "execPath" | "execve" | "platform">;

/** Returns where nothing has to change; otherwise the process starts again, under the same number, and this call never ends. */
export function haveRoomForNewObjects(self: Self = process): void {
  const memoryBytes = self.constrainedMemory();
  const isSmall = memoryBytes > 0 && memoryBytes <= SMALL_BYTES;
  const given = [...self.execArgv, self.env.NODE_OPTIONS ?? ""].join(" ").replaceAll("_", "-");
  if (!isSmall || given.includes(FLAG) || self.execve === undefined || self.platform === "win32") return;
  const args = [self.execPath, `${FLAG}=${SEMI_SPACE_MIB}`, ...self.execArgv, ...self.argv.slice(1)];
  self.execve(self.execPath, args, self.env);
}
