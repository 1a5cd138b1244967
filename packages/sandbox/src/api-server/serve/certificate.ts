/** A certificate for loopback, made when the server first listens; this file, and with it the library, is loaded only then. */
import { isIP } from "node:net";
import { generate } from "selfsigned";

export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export async function selfSignedPair(host: string): Promise<KeyPair> {
  const names = ["localhost", "kubernetes", "kubernetes.default.svc", ...(isIP(host) === 0 ? [host] : [])];
  const addresses = new Set(["127.0.0.1", "::1", ...(isIP(host) === 0 ? [] : [host])]);
  const made = await generate([{ name: "commonName", value: "kube-apiserver" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [...names.map((value) => ({ type: 2 as const, value })), ...[...addresses].map((ip) => ({ type: 7 as const, ip }))],
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}
