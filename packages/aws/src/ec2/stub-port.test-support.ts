/** A port of which a test gives the calls that it expects; any other call fails. */
import { type Ec2CallName, type Ec2Calls, type Ec2Port, ec2PortOf } from "./ec2-port.ts";

export type Stubs = {
  readonly [Name in Ec2CallName]?: (request: Ec2Calls[Name]["request"]) => Ec2Calls[Name]["result"] | Promise<Ec2Calls[Name]["result"]>;
};

export interface StubPort {
  readonly ec2: Ec2Port;
  /** Requests in the order in which they came. */
  readonly calls: { readonly name: Ec2CallName; readonly request: unknown }[];
}

export function stubPort(stubs: Stubs): StubPort {
  const calls: StubPort["calls"] = [];
  const ec2 = ec2PortOf(async (name, request) => {
    calls.push({ name, request });
    const stub = stubs[name] as ((request: unknown) => unknown) | undefined;
    if (stub === undefined) throw new Error(`unexpected call of ${name}`);
    return stub(request);
  });
  return { ec2, calls };
}
