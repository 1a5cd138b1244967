/** The suite that the sandbox's API server passes, asked of the real one: what they answer differently is a fault of the sandbox. */
import { loadTransport, type Transport } from "@joinery/kube";
import { describeApiServer } from "../../packages/sandbox/src/api-server/conformance/suite.test-support.ts";
import { describeWatches } from "../../packages/sandbox/src/api-server/conformance/watches.test-support.ts";
import { clock } from "./cluster.ts";

let transport: Promise<Transport> | undefined;

function open(): Promise<Transport> {
  transport ??= loadTransport({ clock, env: process.env }).then((loaded) => loaded.transport);
  return transport;
}

describeApiServer("kube-apiserver", "conformance", open);
describeWatches("kube-apiserver", "conformance", open);
