// Bundles the `joinery` command for Node 24: dist/joinery.mjs, and dist/chunks with what a command loads when it needs it. What the
// parts of this recipe are worth is told in docs/measurements.md.
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { build } from "esbuild";

/**
 * The AWS SDK's schema files build objects with computed keys (`[_xN]: …`), which a bundler must treat as impure and keep.
 * With the keys written out, unused shapes fall away (EC2: 551 -> 87 KB).
 */
const awsSchemas = {
  name: "aws-schemas",
  setup(builder) {
    builder.onLoad({ filter: /@aws-sdk[\\/].*schemas_\d+\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const names = new Map([...source.matchAll(/^const (_\w+) = ("(?:[^"\\]|\\.)*");$/gm)].map((match) => [match[1], match[2]]));
      return { contents: source.replace(/\[(_\w+)\](?=:)/g, (whole, name) => names.get(name) ?? whole), loader: "js" };
    });
  },
};

/** The Kubernetes client does not say that its 900 files have no effect but their exports; without that, all of them are kept. */
const pureKubernetesClient = {
  name: "pure-kubernetes-client",
  setup(builder) {
    const isAsked = Symbol("asked");
    builder.onResolve({ filter: /^@kubernetes\/client-node$|^\.\.?\// }, async ({ path, pluginData, ...from }) => {
      const isClients = path.startsWith("@kubernetes/") || /@kubernetes[\\/]client-node[\\/]dist[\\/]/.test(from.importer);
      if (pluginData === isAsked || !isClients) return undefined;
      return { ...(await builder.resolve(path, { ...from, pluginData: isAsked })), sideEffects: false };
    });
  },
};

/**
 * `import … from "node:http"` makes Node read every export of it to make a module of them, and one of them loads the whole of Node's own undici:
 * 60 ms of CPU at each start. Asked for as a value, nothing is read but what is used.
 */
const plainHttp = {
  name: "plain-http",
  setup(builder) {
    builder.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === "import-statement" || kind === "dynamic-import" ? { path: "node:http", namespace: "plain-http" } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "plain-http" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** The index of undici loads what imitates servers, caches and browsers too, 50 ms of CPU at each start. Here are its pools, and its proxy for who has one. */
const undiciPools = {
  name: "undici-pools",
  setup(builder) {
    builder.onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({ path: "undici", namespace: "undici-pools", pluginData: resolveDir }));
    builder.onLoad({ filter: /.*/, namespace: "undici-pools" }, ({ pluginData: resolveDir }) => ({
      contents: `
        Object.assign(require("undici/lib/dispatcher/dispatcher.js").prototype, require("undici/lib/api/index.js"));
        module.exports = {
          Pool: require("undici/lib/dispatcher/pool.js"),
          get ProxyAgent() { return require("undici/lib/dispatcher/proxy-agent.js"); },
        };`,
      resolveDir,
    }));
  },
};

/** IDs that images run as: root, the first user, `nonroot`, `nobody`. */
const USUAL_USERS = [0, 1000, 65_532, 65_534];

/** A kubeconfig of a server that is not there. */
const NOWHERE = JSON.stringify({
  clusters: [{ name: "none", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "none", user: {} }],
  contexts: [{ name: "none", context: { cluster: "none", user: "none" } }],
  "current-context": "none",
});

const outfile = process.argv[2] ?? "dist/joinery.mjs";
const outdir = dirname(outfile);
const compiled = join(outdir, "compiled");
for (const folder of [join(outdir, "chunks"), compiled]) await rm(folder, { recursive: true, force: true });
const result = await build({
  entryPoints: ["packages/cli/src/bundle.ts"],
  outdir,
  entryNames: basename(outfile, extname(outfile)),
  chunkNames: "chunks/[name]-[hash]",
  outExtension: { ".js": extname(outfile) },
  bundle: true,
  splitting: true, // one file would be read whole, whichever command runs
  platform: "node",
  mainFields: ["module", "main"], // the ES builds, which can be shaken
  format: "esm",
  target: "node24",
  minify: true,
  legalComments: "linked", // beside the code, which is to be ASCII
  metafile: true,
  define: { JOINERY_REVISION: JSON.stringify(revision()) },
  plugins: [awsSchemas, pureKubernetesClient, plainHttp, undiciPools],
  loader: { ".json": "json" },
  banner: {
    // CommonJS dependencies ask for these
    js: '#!/usr/bin/env node\nimport{createRequire}from"node:module";const require=createRequire(import.meta.url);const __dirname=import.meta.dirname;const __filename=import.meta.filename;',
  },
});
refusePackageChunks(result.metafile);
await chmod(outfile, 0o755);
const scripts = Object.keys(result.metafile.outputs).filter((path) => path.endsWith(extname(outfile)));
await Promise.all(scripts.map(writeInAscii));
await compile();
const bytes = scripts.reduce((sum, path) => sum + result.metafile.outputs[path].bytes, 0);
console.log(`${outfile} and ${scripts.length - 1} chunks: ${Math.round(bytes / 1024)} KiB`);

/**
 * A single letter beyond ASCII makes V8 hold the whole text of a file with two bytes a letter. The bundler leaves such letters in
 * regular expressions alone, where an escape means the same.
 */
async function writeInAscii(path) {
  const text = await readFile(path, "utf8");
  const escaped = text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped !== text) await writeFile(path, escaped);
}

/**
 * What a plan and controllers have loaded when they end (these because nobody names the namespace of their election) is compiled once and for all. Node
 * keeps it apart by user, whom an image may change after its build.
 */
async function compile() {
  await mkdir(compiled);
  const kubeconfig = join(compiled, "kubeconfig");
  await writeFile(kubeconfig, NOWHERE);
  const starts = [
    "controller --cloud-provider kwok",
    "controller --cluster-name none --ec2-endpoint http://127.0.0.1:1",
    "plan docs/examples/20-unschedulable/manifests",
  ];
  for (const start of starts)
    spawnSync(process.execPath, [outfile, ...start.split(" ")], { env: { KUBECONFIG: kubeconfig }, stdio: "ignore", timeout: 60_000 });
  await rm(kubeconfig);
  const [own] = await readdir(compiled);
  if (own === undefined) throw new Error(`nothing was compiled into ${compiled}: the bundle does not start`);
  for (const file of await readdir(join(compiled, own))) await chmod(join(compiled, own, file), 0o644);
  for (const user of USUAL_USERS) {
    const name = own.replace(/-\d+$/, `-${user}`);
    if (name !== own) await symlink(own, join(compiled, name));
  }
}

/** In a chunk of its own a CommonJS package has nothing but its default export, so `const { name } = await import("package")` finds nothing. */
function refusePackageChunks({ outputs }) {
  const packages = Object.values(outputs).flatMap(({ entryPoint = "" }) => (entryPoint.includes("node_modules/") ? [entryPoint] : []));
  if (packages.length === 0) return;
  throw new Error(`imported when used: ${packages.join(", ")}; import a package in a file of ours, and that file when it is used`);
}

/** The commit that is bundled, for `joinery --version`; empty outside a git checkout. */
function revision() {
  try {
    return execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}
