import { PublishBatchCommand, type SNSClient } from '@aws-sdk/client-sns';
import { awsEntry, type AwsAnswer } from '../delivery/aws-batches.ts';
import { AwsSink } from '../delivery/aws-sink.ts';
import type { Delivery, Sink } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface SnsOptions {
  /** You own it: the sink does not close it. */
  client: SNSClient;
  /** For names that end in `.fifo`, messages get group and deduplication ids, derived from the job's key and id. */
  topicArn: string;
  /**
   * Maximum number of bytes of a message and of a call, including attributes.
   * @default 262_144
   */
  maxBytes?: number;
}

const optionNames = {
  client: true,
  topicArn: true,
  maxBytes: true,
} satisfies Record<keyof SnsOptions, true>;

/**
 * Each job is one message to an SNS topic, ten per call.
 *
 * @example
 * ```ts
 * const sink = sns({ client: new SNSClient({}), topicArn: process.env.TOPIC_ARN! });
 * ```
 */
export function sns(options: SnsOptions): Sink {
  refuseUnknown('sns', options, optionNames);
  return new SnsSink(options);
}

class SnsSink extends AwsSink {
  readonly kind = 'sns';
  readonly #client: SNSClient;
  readonly #topicArn: string;
  readonly #isFifo: boolean;

  constructor({ client, topicArn, maxBytes = 262_144 }: SnsOptions) {
    super(maxBytes);
    this.#client = client;
    this.#topicArn = topicArn;
    this.#isFifo = topicArn.endsWith('.fifo');
  }

  protected call(part: readonly Delivery[], abortSignal: AbortSignal): Promise<AwsAnswer> {
    const PublishBatchRequestEntries = part.map((delivery, index) => ({
      ...awsEntry(delivery, index, this.#isFifo),
      Message: delivery.json,
    }));
    const command = new PublishBatchCommand({
      TopicArn: this.#topicArn,
      PublishBatchRequestEntries,
    });
    return this.#client.send(command, { abortSignal });
  }
}
