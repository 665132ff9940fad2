export type { Outbox, OutboxHost, OutboxJob } from './outbox.ts';
export {
  dead,
  retry,
  type DeadResult,
  type DeferContext,
  type Delivery,
  type DeliveryResult,
  type RetryResult,
  type Sink,
  type SinkHost,
} from './sink.ts';
