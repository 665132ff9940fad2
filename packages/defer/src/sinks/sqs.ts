import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { awsEntry, type AwsAnswer } from '../delivery/aws-batches.ts';
import { AwsSink } from '../delivery/aws-sink.ts';
import type { Delivery, Sink } from '../sink.ts';
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

const optionNames = {
  client: true,
  queueUrl: true,
  maxBytes: true,
} satisfies Record<keyof SqsOptions, true>;

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
  refuseUnknown('sqs', options, optionNames);
  return new SqsSink(options);
}

class SqsSink extends AwsSink {
  readonly kind = 'sqs';
  readonly #client: SQSClient;
  readonly #queueUrl: string;
  readonly #isFifo: boolean;

  constructor({ client, queueUrl, maxBytes = 262_144 }: SqsOptions) {
    super(maxBytes);
    this.#client = client;
    this.#queueUrl = queueUrl;
    this.#isFifo = queueUrl.endsWith('.fifo');
  }

  protected call(part: readonly Delivery[], abortSignal: AbortSignal): Promise<AwsAnswer> {
    const Entries = part.map((delivery, index) => ({
      ...awsEntry(delivery, index, this.#isFifo),
      MessageBody: delivery.json,
    }));
    const command = new SendMessageBatchCommand({ QueueUrl: this.#queueUrl, Entries });
    return this.#client.send(command, { abortSignal });
  }
}
