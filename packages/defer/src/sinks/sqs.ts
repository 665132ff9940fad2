import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { AwsSink } from '../delivery/aws-sink.ts';
import type { Sink } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface SqsOptions {
  /** You own it: the sink does not close it. */
  client: SQSClient;
  /** For names that end in `.fifo`, messages get group and deduplication ids, derived from the job's key and id. */
  queueUrl: string;
  /**
   * Maximum number of bytes of a message and of a call, including attributes.
   * @default 262_144
   */
  maxBytes?: number;
}

/**
 * Each job is one message in an SQS queue, ten per call. A FIFO queue drops a second message with the same key, or id,
 * within five minutes, and keeps the jobs of one key in order.
 *
 * @example
 * ```ts
 * const sink = sqs({ client: new SQSClient({}), queueUrl: process.env.QUEUE_URL! });
 * ```
 */
export function sqs(options: SqsOptions): Sink {
  refuseUnknown<keyof SqsOptions>('sqs', options, { client: true, queueUrl: true, maxBytes: true });
  const { client, queueUrl, maxBytes = 262_144 } = options;
  return new AwsSink('sqs', queueUrl, maxBytes, (messages, sendOptions) => {
    const Entries = messages.map(({ entry, json }) => ({ ...entry, MessageBody: json }));
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries });
    return client.send(command, sendOptions);
  });
}
