import assert from 'node:assert/strict';
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { decodeSpans } from '../decode.ts';
import { Receiver } from '../receiver.ts';

const root = join(import.meta.dirname, '../../../..');
/** An app that goes on until a signal, with one span that waits to be sent. */
const app = `
  const { trace } = await import('@opentelemetry/api');
  trace.getTracer('app').startSpan('work').end();
  setInterval(() => {}, 1_000);
  console.log('ready');
`;
const asSignalExit = `
  // It ends the process if all listeners are of its own kind.
  const emitter = (globalThis[Symbol.for('signal-exit emitter')] = { count: 1 });
  const listener = () => {
    if (process.listeners('SIGTERM').length !== emitter.count) return;
    process.off('SIGTERM', listener);
    process.kill(process.pid, 'SIGTERM');
  };
  process.on('SIGTERM', listener);
`;
const withDefer = `
  const { createDefer } = await import('@redline/defer');
  createDefer({ sinks: {}, logger: false });
`;

let receiver: Receiver;

beforeEach(async () => {
  receiver = await new Receiver().start();
});

afterEach(() => receiver.stop());

/** Runs a program, which sends only before its end. */
function run(program: string): ChildProcessByStdio<null, Readable, null> {
  const register = ['--import', '@redline/telemetry/register', '--input-type=module'];
  return spawn(process.execPath, [...register, '-e', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_EXPORT_TIMEOUT: '600000',
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    },
  });
}

/** Returns the exit code of a process, or the signal that ended it. */
async function endOf(child: ChildProcess): Promise<unknown> {
  const stopped = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(stopped);
  return code ?? signal;
}

/** Sends SIGTERM to a program when it has printed a line, and again when the receiver has a request. */
async function terminated(program: string, signals = 1): Promise<unknown> {
  const child = run(program);
  const end = endOf(child);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  if (signals > 1) {
    await receiver.next();
    child.kill('SIGTERM');
  }
  return end;
}

function received(): string[] {
  const traces = receiver.received.filter(({ path }) => path === '/v1/traces');
  return traces.flatMap(({ body }) => decodeSpans(body).spans.map(({ name }) => name));
}

describe('SIGTERM ends a process as without telemetry, after what waits was sent', () => {
  for (const [name, program] of [
    ['that listens to nothing', ''],
    ['that listens in the way of signal-exit', asSignalExit],
    ['that has @redline/defer', withDefer],
  ] as const) {
    test(`one ${name}`, async () => {
      assert.equal(await terminated(program + app), 'SIGTERM');
      assert.deepEqual(received(), ['work']);
    });
  }

  test('one that ends by itself', async () => {
    const program = `process.on('SIGTERM', () => setImmediate(() => process.exit(7)));${app}`;
    assert.equal(await terminated(program), 7);
  });
});

test('a second SIGTERM does not wait for the receiver', async () => {
  receiver.respond = () => {};
  assert.equal(await terminated(app, 2), 'SIGTERM');
});

describe('a receiver that does not respond keeps no process from its end', () => {
  beforeEach(() => {
    receiver.respond = () => {};
  });

  test('by SIGTERM', async () => {
    assert.equal(await terminated(app), 'SIGTERM');
  });

  test('by itself, with spans that wait', async () => {
    const program = app.replace('setInterval(() => {}, 1_000);', '');
    assert.equal(await endOf(run(program)), 0);
  });
});
