import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Batches } from '../../src/export/batches.ts';
import { createOtlpSender } from '../../src/export/otlp-sender.ts';
import { Receiver } from '../receiver.ts';

const batch = (text: string): Buffer => Buffer.from(text);
let receiver: Receiver;

beforeEach(async () => {
  receiver = await new Receiver().start();
  setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
});

afterEach(async () => {
  setEnvironment({});
  await receiver.stop();
});

describe('a sender', () => {
  test('sends to the address of the signal, with its type and the headers of the environment', async () => {
    setEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/own`,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b',
    });
    assert.equal(await createOtlpSender('traces').send(batch('spans')), 'sent');
    assert.equal(await createOtlpSender('metrics').send(batch('metrics')), 'sent');
    assert.deepEqual(
      receiver.received.map(({ path, headers, body }) => [
        path,
        headers['content-type'],
        headers['api-key'],
        body.toString(),
      ]),
      [
        ['/base/v1/traces', 'application/x-protobuf', 'a b', 'spans'],
        ['/own', 'application/x-protobuf', 'a b', 'metrics'],
      ],
    );
  });

  test('compresses, if the environment asks for it', async () => {
    setEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    });
    await createOtlpSender('traces').send(batch('x'.repeat(1_000)));
    const [received] = receiver.received;
    assert.equal(received!.headers['content-encoding'], 'gzip');
    assert.equal(received!.body.length, 1_000);
  });

  test('sends again what a receiver refuses for now', async () => {
    receiver.respond = (response) => {
      const status = receiver.received.length === 1 ? 503 : 200;
      response.writeHead(status, { 'Retry-After': 0 }).end();
    };
    assert.equal(await createOtlpSender('traces').send(batch('spans')), 'sent');
    assert.equal(receiver.received.length, 2);
  });

  test('does not repeat what a receiver will never take', async () => {
    receiver.respond = (response) => response.writeHead(400).end();
    assert.equal(await createOtlpSender('traces').send(batch('spans')), 'refused');
    assert.equal(receiver.received.length, 1);
  });

  test('fails if the receiver is slower than the timeout, or gone', async () => {
    setEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    });
    receiver.respond = () => {};
    const sender = createOtlpSender('traces');
    assert.equal(await sender.send(batch('spans')), 'failed');
    await receiver.stop();
    assert.equal(await sender.send(batch('spans')), 'failed');
  });
});

describe('batches', () => {
  test('are sent one at a time, in order, until nothing is left', async () => {
    const waiting = ['one', 'two', 'three'].map(batch);
    let underWay = 0;
    receiver.respond = (response) => {
      underWay++;
      assert.equal(underWay, 1);
      setImmediate(() => {
        underWay--;
        response.end();
      });
    };
    const batches = new Batches(createOtlpSender('traces'), () => waiting.shift() ?? null);
    const [first, second] = await Promise.all([batches.send(), batches.send()]);
    assert.deepEqual([first, second], [true, true]);
    assert.deepEqual(bodies(), ['one', 'two', 'three']);
  });

  test('one that fails is kept, and is the first when the receiver is back', async () => {
    setEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    });
    const waiting = ['one', 'two'].map(batch);
    const batches = new Batches(createOtlpSender('traces'), () => waiting.shift() ?? null);
    await receiver.stop();
    assert.equal(await batches.send(), false);
    assert.equal(await batches.send(), false);
    assert.equal(waiting.length, 1);
    await receiver.start();
    assert.equal(await batches.send(), true);
    assert.deepEqual(bodies(), ['one', 'two']);
  });

  test('one that is refused is dropped', async () => {
    const waiting = ['bad', 'good'].map(batch);
    receiver.respond = (response, { body }) =>
      response.writeHead(String(body) === 'bad' ? 413 : 200).end();
    const batches = new Batches(createOtlpSender('traces'), () => waiting.shift() ?? null);
    assert.equal(await batches.send(), true);
    assert.deepEqual(bodies(), ['bad', 'good']);
  });
});

function bodies(): string[] {
  return receiver.received.map(({ body }) => body.toString());
}

function setEnvironment(variables: Record<string, string>): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('OTEL_')) delete process.env[name];
  }
  Object.assign(process.env, variables);
}
