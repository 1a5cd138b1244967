/** Every "no" of the solver as data (law 4). The kinds are the reason codes of the plan format. */
import type { Resources, Taint } from "@joinery/api";

/**
 * Which of "meets the requirements", "has the resources", "has an offering" no instance type could give. The numbers are those of
 * the table below S-105; 4, 8, 9, 11 and 12 cannot occur while fitting implies an offering (S-104), and 1 belongs to minValues.
 */
export type FilterCategory = 2 | 3 | 5 | 6 | 7 | 10;

/** What the filtering of instance types was asked for, for the tail of its messages (S-102, S-103). */
export interface FilterQuestion {
  readonly category: FilterCategory;
  /** The narrowed requirements, as text (S-37). */
  readonly requirements: string;
  /** The pod's requests plus DaemonSet overhead; `most` where the overhead depends on the instance type. */
  readonly least: Resources;
  readonly most?: Resources;
}

/** A label of which `found` different values are left where `wanted` are demanded. */
export interface MinValuesShortfall {
  readonly key: string;
  readonly wanted: number;
  readonly found: number;
}

export type Reason =
  | { readonly kind: "no-node-pool" }
  | { readonly kind: "node-pool-not-ready"; readonly nodePool: string; readonly message: string }
  | { readonly kind: "untolerated-taint"; readonly nodePool: string; readonly taints: readonly Taint[] }
  | {
      readonly kind: "incompatible-requirements";
      readonly nodePool: string;
      readonly key: string;
      readonly wanted: string;
      readonly offered: string;
      /** Set when the pool admits the pod, but no instance type of it does. */
      readonly filter?: FilterQuestion;
    }
  | { readonly kind: "undefined-label"; readonly nodePool: string; readonly key: string; readonly typoOf?: string }
  | {
      readonly kind: "insufficient-resources";
      readonly nodePool: string;
      readonly requests: Resources;
      readonly message: string;
      readonly filter?: FilterQuestion;
    }
  | { readonly kind: "no-offering"; readonly nodePool: string; readonly message: string; readonly filter?: FilterQuestion }
  | { readonly kind: "over-limit"; readonly nodePool: string; readonly resource: string; readonly used: number; readonly limit: number }
  /** S-57, S-173: too few different values are left. */
  | { readonly kind: "min-values"; readonly nodePool: string; readonly labels: readonly MinValuesShortfall[] }
  /** S-120: with all DaemonSets that would run on the node. */
  | { readonly kind: "host-port"; readonly nodePool: string; readonly ports: readonly string[] }
  /** No place that a volume can be reached from goes with the pool (S-94, S-122). */
  | { readonly kind: "volume-topology"; readonly nodePool: string; readonly wanted: string }
  /** V-71; the driver where one alone excludes every type. */
  | {
      readonly kind: "volume-limit";
      readonly nodePool: string;
      readonly driver?: string;
      readonly count?: number;
      readonly limit?: number;
    }
  /** A claim that cannot be used (S-22…S-25). */
  | { readonly kind: "invalid-volume"; readonly claim: string; readonly message: string }
  /** S-143. */
  | {
      readonly kind: "topology-spread" | "pod-affinity" | "pod-anti-affinity";
      readonly nodePool: string;
      readonly key: string;
      /** Pods by domain, at most 25 domains; of the hostname, where each node is one, none. */
      readonly counts: Readonly<Record<string, number>>;
      /** What the pod allows for the key, and what the node. */
      readonly podDomains: string;
      readonly nodeDomains: string;
    }
  | { readonly kind: "unsupported"; readonly nodePool?: string; readonly feature: string }
  /** The pod itself is wrong, whatever the pools are (S-20, S-21). */
  | {
      readonly kind: "invalid-requirement";
      readonly key: string;
      readonly problem: "operator" | "restricted-label" | "key" | "value" | "values" | "unknown-value" | "match-fields" | "empty-terms";
      readonly message: string;
    }
  /** The only compatible reservation is full, and nobody may wait for it (V-62). */
  | { readonly kind: "reserved-capacity"; readonly nodePool: string }
  /**
   * A later solve can place the pod: this one ended before it was tried (S-87), a pod that it depends on has no decided place yet
   * (S-141), or the reservations that it could use are spoken for (S-171, V-63).
   */
  | { readonly kind: "next-solve"; readonly waitsFor?: "other-pods" | "reservation" }
  /** The pod asks not to be on a node of a pool (S-19); no event is published for it. */
  | { readonly kind: "opted-out" };
