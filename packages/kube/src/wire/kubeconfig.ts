/**
 * The way to the API server that kubeconfig files describe. Reading them and logging in (exec plugins, OIDC, certificates) is the
 * official client library's work. It costs about 90 MB of memory unbundled, so this file is the only one that knows it, and is itself
 * imported only when a kubeconfig is used; the import names what it needs, so that a bundler can leave out the rest.
 */
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "../clock/clock.ts";
import { TransportError } from "./errors.ts";
import { type CredentialSource, type Credentials, createHttpTransport, type TlsOptions } from "./http-transport.ts";
import type { Transport } from "./transport.ts";

export interface KubeconfigOptions {
  /** Files in the order of precedence: the first to name a cluster, user, context or current context wins. */
  readonly paths: readonly string[];
  /** Default: the current context of the files. */
  readonly context?: string;
  readonly clock: Clock;
  readonly requestTimeoutMs?: number;
}

export interface FromKubeconfig {
  readonly transport: Transport;
  readonly server: string;
  readonly context: string;
  /** Of the context; undefined where it names none. */
  readonly namespace: string | undefined;
}

/**
 * How long a login is used before the library is asked again. It keeps exec tokens until they expire; the server's clock and ours may
 * differ, and a refused token (401) is renewed at once anyway.
 */
const LOGIN_CACHE_MS = 30_000;

export async function loadKubeconfig({ paths, context, clock, requestTimeoutMs }: KubeconfigOptions): Promise<FromKubeconfig> {
  const config = merge(
    new KubeConfig(),
    paths.map((path) => readFile(new KubeConfig(), path)),
  );
  const where = paths.join(", ");
  if (context !== undefined) {
    config.setCurrentContext(context);
  }
  const chosen = config.getContextObject(config.getCurrentContext());
  const cluster = config.getCurrentCluster();
  if (chosen === null || cluster === null) {
    throw new TransportError("credentials", `Cannot use kubeconfig ${where}: ${missing(config)}`);
  }
  if (cluster.server.startsWith("http:")) {
    // The library refuses plain HTTP without this, though nothing is left to verify; kubectl takes it.
    config.loadFromOptions({ ...snapshot(config), clusters: config.getClusters().map((one) => ({ ...one, skipTLSVerify: true })) });
  }
  const login = createLogin(config, clock);
  const { tls } = await login(false).catch((error: unknown) => {
    throw new TransportError("credentials", `Cannot log in with kubeconfig ${where}: ${(error as Error).message}`, error);
  });
  const transport = createHttpTransport({
    server: cluster.server,
    clock,
    tls,
    credentials: login,
    proxyUrl: cluster.proxyUrl,
    requestTimeoutMs,
  });
  return { transport, server: cluster.server, context: config.getCurrentContext(), namespace: chosen.namespace };
}

function readFile(config: KubeConfig, path: string): KubeConfig {
  try {
    config.loadFromFile(path);
    return config;
  } catch (error) {
    throw new TransportError("credentials", `Cannot read kubeconfig ${path}: ${(error as Error).message}`, error);
  }
}

/** As kubectl merges KUBECONFIG's files; the library's own merge refuses names that occur twice. */
function merge(into: KubeConfig, configs: readonly KubeConfig[]): KubeConfig {
  into.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.clusters)),
    users: firstOfEachName(configs.flatMap((config) => config.users)),
    contexts: firstOfEachName(configs.flatMap((config) => config.contexts)),
    currentContext: configs.map((config) => config.currentContext).find((name) => name) ?? "",
  });
  return into;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const byName = new Map<string, T>();
  for (const entry of entries) {
    if (!byName.has(entry.name)) {
      byName.set(entry.name, entry);
    }
  }
  return [...byName.values()];
}

function snapshot(config: KubeConfig) {
  return { clusters: config.clusters, users: config.users, contexts: config.contexts, currentContext: config.currentContext };
}

function missing(config: KubeConfig): string {
  const name = config.getCurrentContext();
  const context = name ? config.getContextObject(name) : null;
  const names = config.contexts.map((one) => one.name).join(", ") || "none";
  if (!name) {
    return `it has no current context, wanted one of its contexts (${names})`;
  }
  return context === null
    ? `context ${JSON.stringify(name)} is not in it, wanted one of ${names}`
    : `cluster ${JSON.stringify(context.cluster)} of context ${JSON.stringify(name)} is not in it`;
}

/** Asks the library for headers and certificates, and keeps them for a while. */
function createLogin(config: KubeConfig, clock: Clock): CredentialSource {
  let held: (Credentials & { readonly tls: TlsOptions }) | undefined;
  let askedAtMs = 0;
  return async (isRefused) => {
    const nowMs = clock.monotonicMs();
    if (held === undefined || isRefused || nowMs - askedAtMs >= LOGIN_CACHE_MS) {
      const options: RequestOptions & { servername?: string } = {};
      await config.applyToHTTPSOptions(options);
      const tls = tlsOf(options);
      held = { headers: headersOf(options), tls: held !== undefined && isSameTls(held.tls, tls) ? held.tls : tls };
      askedAtMs = nowMs;
    }
    return held;
  };
}

function tlsOf({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions & { servername?: string }): TlsOptions {
  return {
    ca: ca as TlsOptions["ca"],
    cert: cert as TlsOptions["cert"],
    key: key as TlsOptions["key"],
    servername,
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

function isSameTls(a: TlsOptions, b: TlsOptions): boolean {
  return String(a.ca) === String(b.ca) && String(a.cert) === String(b.cert) && String(a.key) === String(b.key);
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined) {
      result[name.toLowerCase()] = String(value);
    }
  }
  if (auth) {
    result.authorization = `Basic ${Buffer.from(auth).toString("base64")}`;
  }
  return result;
}
