/**
 * The port over JSON: one POST per call, so that a process reaches an EC2 that lives in another process (the sandbox's). Both halves
 * are made from the one list of calls.
 */
import type { ApiRequest, ApiResponse, Transport } from "@joinery/kube";
import { AwsError, type AwsFault } from "./aws-error.ts";
import { EC2_CALL_NAMES, type Ec2CallName, type Ec2Port, ec2PortOf, handlerOf } from "./ec2-port.ts";

export const EC2_PATH_PREFIX = "/ec2/";

/** The near half. Silence and broken answers become an `AwsError` of fault `network`. */
export function createHttpEc2Port(transport: Pick<Transport, "send">): Ec2Port {
  return ec2PortOf((name, request, signal) => exchange(transport, name, request, signal));
}

/** The far half: undefined when the request is not for EC2, otherwise the answer. */
export async function handleEc2Request(
  port: Ec2Port,
  request: Pick<ApiRequest, "method" | "path" | "body">,
  signal?: AbortSignal,
): Promise<ApiResponse | undefined> {
  if (!request.path.startsWith(EC2_PATH_PREFIX)) return undefined;
  const name = EC2_CALL_NAMES.find((known) => known === request.path.slice(EC2_PATH_PREFIX.length));
  if (name === undefined || request.method !== "POST")
    return refusal(404, new AwsError("InvalidAction", `no call ${request.method} ${request.path}`));
  try {
    return { status: 200, body: await handlerOf(port)(name, request.body ?? {}, signal) };
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return refusal(error.fault === "client" ? 400 : 503, error);
  }
}

async function exchange(transport: Pick<Transport, "send">, name: Ec2CallName, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await send(transport, { method: "POST", path: `${EC2_PATH_PREFIX}${name}`, body }, signal);
  if (response.status === 200) return response.body;
  throw errorOf(response);
}

async function send(transport: Pick<Transport, "send">, request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
  try {
    return await transport.send(request, signal);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AwsError("NetworkingError", error instanceof Error ? error.message : String(error), "network");
  }
}

interface RefusalBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly fault?: unknown;
}

function errorOf({ status, body }: ApiResponse): AwsError {
  const { code, message, fault } = (typeof body === "object" && body !== null ? body : {}) as RefusalBody;
  if (typeof code !== "string") return new AwsError("NetworkingError", `unexpected answer with status ${status}`, "network");
  return new AwsError(code, typeof message === "string" ? message : "", isFault(fault) ? fault : "server");
}

function isFault(value: unknown): value is AwsFault {
  return value === "client" || value === "server" || value === "network";
}

function refusal(status: number, { code, message, fault }: AwsError): ApiResponse {
  return { status, body: { code, message: message.slice(code.length + 2), fault } };
}
