import {
  findErrorBy,
  Producer,
  stringSerializers,
  type ProducerOptions,
} from '@platformatic/kafka';
import { headersOf, choose, JobFault } from '../delivery/message.ts';
import { isolate } from '../delivery/outcomes.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import type { Delivery, Sink } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

type StringOptions = ProducerOptions<string, string, string, string>;

export interface KafkaOptions {
  /** The topic, or a function that returns the topic of a job. */
  topic: string | ((delivery: Delivery) => string);
  /** Options of the sink's own producer: `bootstrapBrokers`, `clientId`, `sasl`, `acks` (all, if left out)… */
  producer: Omit<StringOptions, 'serializers' | 'registry' | 'transactionalId' | 'retries'>;
  /**
   * The longest message that the topic accepts, in characters of JSON.
   * @default 900_000, below the broker's own 1 MB
   */
  maxJobBytes?: number;
}

/** Errors of a broker that concern one record, not the broker itself. */
const faultsOfJob = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
];

/**
 * Each job is one message of a Kafka topic, acknowledged by all in-sync replicas. Jobs with a key go to the key's
 * partition and stay in order there. Consumers dedupe by the header `defer-id`.
 *
 * @example
 * ```ts
 * const sink = kafka({ topic: 'audit', producer: { clientId: 'shop', bootstrapBrokers: ['kafka:9092'] } });
 * ```
 */
export function kafka(options: KafkaOptions): Sink {
  refuseUnknown<keyof KafkaOptions>('kafka', options, {
    topic: true,
    producer: true,
    maxJobBytes: true,
  });
  const { topic, maxJobBytes = 900_000 } = options;
  let producer: Producer<string, string, string, string> | undefined;
  return {
    kind: 'kafka',
    maxBytes: 900_000,
    maxJobBytes,
    open() {
      producer = new Producer({
        acks: -1,
        ...options.producer,
        serializers: stringSerializers,
        // The core retries, and knows when.
        retries: 0,
      });
    },
    send(batch, signal) {
      const produce = (part: readonly Delivery[]): Promise<unknown> => {
        const messages = part.map((delivery) => ({
          topic: choose('topic', topic, delivery),
          ...(delivery.key === undefined ? {} : { key: delivery.key }),
          value: delivery.json,
          headers: headersOf(delivery),
          timestamp: BigInt(delivery.deferredAtMs),
        }));
        return untilAborted(producer!.send({ messages }), signal);
      };
      return isolate(batch, produce, isFaultOfJob);
    },
    async close() {
      await producer?.close(true);
    },
  };
}

function isFaultOfJob(error: unknown): boolean {
  if (error instanceof JobFault) return true;
  return faultsOfJob.some((id) => findErrorBy(error as Error, 'apiId', id) !== null);
}
