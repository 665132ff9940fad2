import { PublishBatchCommand, type SNSClient } from '@aws-sdk/client-sns';
import { AwsSink } from '../delivery/aws-sink.ts';
import type { Sink } from '../sink.ts';
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

/**
 * Each job is one message to an SNS topic, ten per call.
 *
 * @example
 * ```ts
 * const sink = sns({ client: new SNSClient({}), topicArn: process.env.TOPIC_ARN! });
 * ```
 */
export function sns(options: SnsOptions): Sink {
  refuseUnknown<keyof SnsOptions>('sns', options, { client: true, topicArn: true, maxBytes: true });
  const { client, topicArn, maxBytes = 262_144 } = options;
  return new AwsSink('sns', topicArn, maxBytes, (messages, sendOptions) => {
    const PublishBatchRequestEntries = messages.map(({ entry, json }) => ({
      ...entry,
      Message: json,
    }));
    const command = new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries });
    return client.send(command, sendOptions);
  });
}
