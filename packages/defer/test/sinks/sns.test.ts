import { randomUUID } from 'node:crypto';
import { after, describe } from 'node:test';
import { SNSClient } from '@aws-sdk/client-sns';
import { sns } from '../../src/sinks/sns.ts';
import { runContract } from './run-contract.ts';
import { startSnsFake } from './sns-fake.ts';

const fake = await startSnsFake();
const client = new SNSClient({
  endpoint: fake.url,
  region: 'eu-west-1',
  credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  maxAttempts: 1,
});
after(async () => {
  client.destroy();
  await fake.stop();
});

for (const fifo of [false, true]) {
  describe(`sns, ${fifo ? 'FIFO' : 'standard'} topic, against a fake`, () => {
    runContract({
      dedupes: fifo,
      poison: { job: 'refused' },
      outage: { begin: fake.begin, end: fake.end },
      async open() {
        const topicArn = `arn:aws:sns:eu-west-1:000000000000:${randomUUID()}${fifo ? '.fifo' : ''}`;
        return {
          sink: () => sns({ client, topicArn }),
          received: async () =>
            fake.topic(topicArn).map(({ Message, MessageAttributes }) => ({
              job: MessageAttributes['defer-job']!,
              id: MessageAttributes['defer-id'],
              data: JSON.parse(Message),
              ...(MessageAttributes['traceparent'] === undefined
                ? {}
                : { traceparent: MessageAttributes['traceparent'] }),
            })),
        };
      },
    });
  });
}
