/** One request to an API server, whether over HTTP or in process. The real one is `http-transport.ts`; the sandbox brings its own. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ApiRequest {
  readonly method: Method;
  /** Path alone, e.g. `/api/v1/namespaces/default/pods/a`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Of the body; default `application/json`. Patches say which kind they are. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Must not wait behind other requests: it gets a connection of its own kind. */
  readonly isUrgent?: boolean;
  /** A JSON value. Never written to by the receiver. */
  readonly body?: unknown;
  /** Who asks: becomes the field manager when none is given, and the user in the sandbox's log. */
  readonly userAgent?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON value of the answer, or its bytes where it came in protobuf (`accept`). Borrowed: never write into it. */
  readonly body: unknown;
  /** There where the bytes of `body` can be used again: to be called when nobody reads them any more. */
  readonly release?: () => void;
}

export interface ApiStream {
  readonly status: number;
  /** Present when the status is not 200. */
  readonly body?: unknown;
  /** One JSON value per line of the answer, or the bytes of each frame where it came in protobuf; ends when the server closes or the signal aborts. Throws on a broken connection. */
  readonly values: AsyncIterable<unknown>;
}

export interface Transport {
  /** Throws `TransportError` when no answer came (connection refused, timeout); any answer is returned, whatever its status. */
  send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse>;
  stream(request: ApiRequest, signal: AbortSignal): Promise<ApiStream>;
  close(): Promise<void>;
}
