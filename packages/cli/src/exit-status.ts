/** What the exit status of a command says. Scripts rely on these numbers (formats: "Exit status"). */
export const exitStatus = {
  /** Everything asked for was done. */
  ok: 0,
  /** A fault of ours, or of the network. */
  fault: 1,
  /** The command line or a manifest is wrong; nothing was done. */
  badInput: 2,
  /** `plan`: some pods have no place. */
  someUnplaced: 3,
  /** `explain`: the input has no such pod, workload or node. */
  notFound: 4,
  /** `lint`: some findings are errors. */
  foundErrors: 5,
} as const;

export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** Ends a command with a message for people and no stack trace. */
export class CommandError extends Error {
  readonly status: ExitStatus;

  constructor(message: string, status: ExitStatus) {
    super(message);
    this.name = "CommandError";
    this.status = status;
  }
}
