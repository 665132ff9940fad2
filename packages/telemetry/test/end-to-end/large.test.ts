import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { findAddon } from '../../src/native/addon.ts';
import { decodeSpans, type Span } from '../decode.ts';
import { Receiver } from '../receiver.ts';

const addon = findAddon();
const root = join(import.meta.dirname, '../../../..');
/** An app that has one request, and whose handler runs `handle` with the request's span. */
const app = (handle: string): string => `
  const { createServer } = await import('node:http');
  const { trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('app');
  const server = createServer((request, response) => {
    const span = trace.getActiveSpan();
    ${handle}
    response.end();
  });
  server.listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port)).text();
    server.close();
    server.closeAllConnections();
  });
`;

let receiver: Receiver;

beforeEach(async () => {
  receiver = await new Receiver().start();
});

afterEach(() => receiver.stop());

/** Returns what a program on the engine has sent, and its messages. */
async function run(program: string): Promise<{ spans: Span[]; messages: string }> {
  const flags = ['@redline/http/register', '@redline/telemetry/register'];
  const child = spawn(
    process.execPath,
    [...flags.flatMap((flag) => ['--import', flag]), '--input-type=module', '-e', program],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'pipe'],
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_LOG_LEVEL: 'warn',
      },
    },
  );
  const [messages] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  const traces = receiver.received.filter(({ path }) => path === '/v1/traces');
  return { spans: traces.flatMap(({ body }) => decodeSpans(body).spans), messages };
}

describe(
  'facts of spans that are large',
  { skip: typeof addon === 'string' ? addon : false },
  () => {
    test('the span of a request takes long texts', async () => {
      const { spans, messages } = await run(
        app(`span.setAttribute('app.text', 'x'.repeat(100_000));`),
      );
      assert.equal(messages, '');
      assert.equal((spans[0]!.attributes['app.text'] as string).length, 100_000);
    });

    test('the span of a request takes many changes at once', async () => {
      const { spans, messages } = await run(
        app(`for (let at = 0; at < 20_000; at++) span.setAttribute('app.number', at);`),
      );
      assert.equal(messages, '');
      assert.equal(spans[0]!.attributes['app.number'], 19_999);
    });

    test('one that is too large is reported', async () => {
      const { spans, messages } = await run(
        app(`tracer.startSpan('large', { attributes: { text: 'x'.repeat(1_000_000) } }).end();`),
      );
      assert.deepEqual(
        spans.map(({ name }) => name),
        ['GET'],
      );
      assert.match(messages, /1 record of spans was lost/);
    });
  },
);
