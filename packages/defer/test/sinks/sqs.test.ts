import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { startElasticMq } from '@redline/services';
import { sqs } from '../../src/sinks/sqs.ts';
import { deliveries, delivery, host } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

const { server, missing } = await startElasticMq();
after(() => server?.stop());
const client = new SQSClient({
  endpoint: server?.url ?? '',
  region: 'elasticmq',
  credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  maxAttempts: 1,
});
after(() => client.destroy());

const tooLong = { json: JSON.stringify('x'.repeat(300_000)) };
// It keeps its queues in memory, so it may not die; to who waits, one that hangs is as gone.
const outage = { begin: () => server!.pause(), end: () => server!.resume() };

for (const fifo of [false, true]) {
  describe(`sqs, ${fifo ? 'FIFO' : 'standard'} queue`, { skip: missing ?? false }, () => {
    runContract({
      dedupes: fifo,
      orders: fifo,
      poison: tooLong,
      ...(fifo ? {} : { outage }),
      async open() {
        const queueUrl = await createQueue(fifo);
        return { sink: () => sqs({ client, queueUrl }), received: () => read(queueUrl) };
      },
    });
  });
}

describe('sqs', { skip: missing ?? false }, () => {
  it('fills calls of ten jobs, and of no more bytes than a call may have', async (t) => {
    const queueUrl = await createQueue(false);
    const sizes: number[] = [];
    const spy = {
      send: (command: { input: { Entries: unknown[] } }, ...rest: unknown[]) => {
        sizes.push(command.input.Entries.length);
        return client.send(command as never, ...(rest as never[]));
      },
    } as unknown as SQSClient;
    const sink = sqs({ client: spy, queueUrl });
    await sink.open!(host());
    t.after(() => sink.close?.());
    await sink.send(deliveries(25), AbortSignal.timeout(60_000));
    assert.deepEqual(sizes.splice(0), [10, 10, 5]);
    const large = deliveries(3).map((each) => ({
      ...each,
      json: JSON.stringify('ü'.repeat(60_000)),
    }));
    await sink.send(large, AbortSignal.timeout(60_000));
    assert.deepEqual(sizes, [2, 1]);
  });

  it('gives a FIFO queue ids of any keys', async (t) => {
    const queueUrl = await createQueue(true);
    const sink = sqs({ client, queueUrl });
    await sink.open!(host('key'));
    t.after(() => sink.close?.());
    const keys = ['plain', 'with space', 'ü'.repeat(200), 'x'.repeat(500)];
    const batch = keys.flatMap((key) => [delivery({ key }), delivery({ key })]);
    assert.equal(await sink.send(batch, AbortSignal.timeout(60_000)), undefined);
    assert.equal((await read(queueUrl)).length, keys.length);
  });
});

async function createQueue(fifo: boolean): Promise<string> {
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({
      QueueName: `${randomUUID()}${fifo ? '.fifo' : ''}`,
      Attributes: fifo ? { FifoQueue: 'true' } : {},
    }),
  );
  return QueueUrl!;
}

/** Takes everything out, until nothing comes any more. */
async function read(QueueUrl: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        WaitTimeSeconds: 0,
      }),
    );
    if (Messages.length === 0) return messages;
    for (const { Body, MessageAttributes = {} } of Messages) {
      messages.push({
        job: MessageAttributes['defer-job']!.StringValue!,
        id: MessageAttributes['defer-id']!.StringValue,
        data: JSON.parse(Body!),
        ...(MessageAttributes['traceparent'] === undefined
          ? {}
          : { traceparent: MessageAttributes['traceparent'].StringValue }),
      });
    }
    await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
  }
}
