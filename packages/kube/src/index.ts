/** The way to the API server: requests, caches, events, leases, queues; and the clock. */
export type * from "./cache.ts";
export type * from "./client.ts";
export { type Clock, type EpochMs, type Random, type RandomSource, sleepOn } from "./clock/clock.ts";
export { createRandom, createSystemRandom, randomHex, randomUuid, withJitter } from "./clock/random.ts";
export { anchorNow, type ClockAnchor, createRealClock, createScaledClock } from "./clock/real-clock.ts";
export { createVirtualClock, type VirtualClock } from "./clock/virtual-clock.ts";
export {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
  type EventToRecord,
  type ObjectReference,
  referenceTo,
} from "./events/recorder.ts";
export { type CacheOptions, createCache, type LiveCache, withoutManagedFields } from "./informer/cache.ts";
export type { IndexFunction } from "./informer/indexes.ts";
export { compareVersions } from "./informer/store.ts";
export { collectionPath, createKubeClient, type KubeClientOptions, keyOf, objectPath, parseKey } from "./kube-client.ts";
export { createForeignLeases, type ForeignLease, type ForeignLeases, type ForeignLeasesOptions } from "./lease/foreign-leases.ts";
export { createLeaderElection, type LeaderElection, type LeaderElectionOptions, type LeadershipEnd } from "./lease/leader-election.ts";
export { withCondition, withoutCondition } from "./objects/conditions.ts";
export { type FieldTerm, formatFieldSelector, matchesFields, parseFieldSelector, readField } from "./objects/field-selector.ts";
export { derivedNameSuffix, generatedName, randomNameSuffix } from "./objects/generated-name.ts";
export {
  formatLabelSelector,
  type Labels,
  matchesLabelSelector,
  matchesTerms,
  parseLabelSelector,
  SelectorError,
  type SelectorOperator,
  type SelectorTerm,
  termsOf,
} from "./objects/label-selector.ts";
export { applyMergePatch, mergePatchBetween } from "./objects/merge-patch.ts";
export {
  hasFinalizer,
  isDeleting,
  isSameTaint,
  type MapChange,
  withAnnotations,
  withFinalizer,
  withLabels,
  withoutFinalizer,
  withoutTaint,
  withTaint,
} from "./objects/metadata.ts";
export { createOnce, lockedPatch, openPatch, type UpdateOptions, updateOwned } from "./objects/update.ts";
export {
  type BackoffOptions,
  type BucketOptions,
  createRateLimiter,
  createTokenBucket,
  type RateLimiter,
  type TokenBucket,
} from "./queue/rate-limiter.ts";
export {
  createWorkQueue,
  type Worker,
  type WorkQueue,
  type WorkQueueMetrics,
  type WorkQueueOptions,
  type WorkResult,
} from "./queue/work-queue.ts";
export * from "./wire/errors.ts";
export {
  type CredentialSource,
  type Credentials,
  createHttpTransport,
  type HttpTransportOptions,
  type TlsOptions,
} from "./wire/http-transport.ts";
export { type Environment, type InCluster, type InClusterOptions, isInCluster, loadInCluster } from "./wire/in-cluster.ts";
export { createLimitedTransport } from "./wire/limited-transport.ts";
export { type LoadedTransport, type LoadTransportOptions, loadTransport } from "./wire/load-transport.ts";
export { createObservedTransport, type RequestOutcome } from "./wire/observed-transport.ts";
export { alikeOf } from "./wire/protobuf/alike-reader.ts";
export type * from "./wire/transport.ts";
