import { PublishBatchCommand, type SNSClient } from '@aws-sdk/client-sns';
import { awsEntry, type AwsAnswer } from '../delivery/aws-batches.ts';
import { AwsSink } from '../delivery/aws-sink.ts';
import type { Delivery, Sink } from '../sink.ts';
import { onlyKnown } from '../validate.ts';

export interface SnsOptions {
  /** Stays the user's: the sink does not close it. */
  client: SNSClient;
  /** One that ends in `.fifo` gets group and deduplication ids, made of the job's key and id. */
  topicArn: string;
  /**
   * The most bytes of a message and of a call, attributes included.
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
 * Each job one message to an SNS topic, ten in a call.
 *
 * @example
 * ```ts
 * const sink = sns({ client: new SNSClient({}), topicArn: process.env.TOPIC_ARN! });
 * ```
 */
export function sns(options: SnsOptions): Sink {
  onlyKnown('sns', options, optionNames);
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
