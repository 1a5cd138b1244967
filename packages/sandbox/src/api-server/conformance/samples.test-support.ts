/** Objects that the cases send, and how they are sent. */

export type Value = Record<string, unknown>;

export interface Asked {
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
}

export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const json = "application/json-patch+json";
export const apply = "application/apply-patch+yaml";

export const container = { name: "a", image: "b:1" };
export const aPod = (name: string, spec: Value = {}, metadata: Value = {}): Value => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
});
export const aMap = (name: string, data: Value = {}, metadata: Value = {}): Value => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
export const aWorkload = (kind: string, spec: Value = {}): Value => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "w" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "w" } },
    template: { metadata: { labels: { app: "w" } }, spec: { containers: [container] } },
    ...spec,
  },
});

export const aSpread = (more: Value): Value => ({ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule", ...more });
