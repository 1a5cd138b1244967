/** Why a file could not be read, as people say it. */
export function fileFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "no such file";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
      return "it may not be read";
    default:
      return message;
  }
}
