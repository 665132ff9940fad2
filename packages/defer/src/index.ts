export type { Clock, Timer } from './clock.ts';
export { createDefer } from './create-defer.ts';
export type { DeadLetters } from './intake/dead-letters.ts';
export { defer } from './defer.ts';
export type { AfterOptions, DeferCallOptions, StandIn } from './job/call-options.ts';
export type { DeferStats } from './sink-queue/sink-stats.ts';
export type { Deferrer } from './deferrer.ts';
export { DeferError, deferErrorDocs, type DeferErrorCode } from './errors.ts';
export { defineJob, type JobDefinition, type JobOptions, type Unserialisable } from './job/job.ts';
export type { DeadLetter, UnreadableLetter } from './journal/dead-letters.ts';
export type { JobRecord } from './journal/job-record.ts';
export type { Schedule } from './schedule/schedule.ts';
export type { ScheduleOptions } from './schedule/schedules.ts';
export { nodeFs, type JournalFs } from './journal/journal-fs.ts';
export type { SinkQueueOptions } from './sink-queue/queue-options.ts';
export type { DropReason, QueueCounts } from './sink-queue/queue-counts.ts';
export type { JobFailure } from './job/job-counts.ts';
export type { JobStats } from './sink-queue/queue-counts.ts';
export type { SinkStats } from './sink-queue/sink-stats.ts';
export type { Waiting, WaitReason } from './sink-queue/sink-queue-view.ts';
export type { Level, OnDuplicate, Overflow, When } from './job/job.ts';
export { prometheusMetrics } from './adapters/prometheus.ts';
export type { ContextOptions, DeferOptions, JournalOptions } from './options.ts';
export type { SealKey, SealKeyBytes, SealOptions } from './seal/seal-options.ts';
export type { DeferLogger } from './logger.ts';
export type { Outbox, OutboxHost, OutboxJob, OutboxTransaction, SinkLife } from './outbox.ts';
export type { Deferred } from './sink-queue/pending-job.ts';
export { Scope, scopes, type RequestFacts, type ScopeHost } from './request/scope.ts';
export {
  dead,
  retry,
  untried,
  type BatchResults,
  type DeadResult,
  type DeferContext,
  type Delivery,
  type DeliveryResult,
  type RetryResult,
  type RunDelivery,
  type Sink,
  type SinkHost,
} from './sink.ts';
