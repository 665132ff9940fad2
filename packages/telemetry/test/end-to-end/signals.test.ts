import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { spansOf } from '../otlp.ts';
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

/** Runs a program, sends SIGTERM when it has printed a line, and returns its exit code or the signal that ended it. */
async function terminated(program: string, signals = 1): Promise<unknown> {
  const register = ['--import', '@redline/telemetry/register', '--input-type=module'];
  const child = spawn(process.execPath, [...register, '-e', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    },
  });
  const stopped = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  if (signals > 1) {
    await receiver.next();
    child.kill('SIGTERM');
  }
  const [code, signal] = await exited;
  clearTimeout(stopped);
  return code ?? signal;
}

function received(): string[] {
  const traces = receiver.received.filter(({ path }) => path === '/v1/traces');
  return traces.flatMap(({ body }) => spansOf(body).map(({ name }) => name));
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
