import { context, createContextKey, ROOT_CONTEXT, trace, type Context } from '@opentelemetry/api';
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate as immediate, setTimeout as timeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { AsyncContextManager } from '../src/api/context-manager.ts';
import { withSpan } from '../src/api/derived-context.ts';
import { addSpanProcessor, registerApi, unregisterApi } from '../src/api/registration.ts';
import { createPropagator } from '../src/api/propagator.ts';
import { TracerProvider } from '../src/api/tracer-provider.ts';
import { RingWriter, createRing } from '../src/native/ring-writer.ts';
import { RingReader } from './ring-records.ts';

const key = createContextKey('test');
const one = ROOT_CONTEXT.setValue(key, 1);
const two = ROOT_CONTEXT.setValue(key, 2);
const active = (): unknown => context.active().getValue(key);
const ring = createRing();
const provider = new TracerProvider({ writer: new RingWriter(ring, () => {}) });
const reader = new RingReader(ring);

before(() => {
  const propagator = createPropagator(['tracecontext']);
  assert.equal(registerApi({ provider, contexts: new AsyncContextManager(), propagator }), true);
});
after(unregisterApi);

test('a context is active in its callback, and in what this starts', async () => {
  assert.equal(context.active(), ROOT_CONTEXT);
  const seen: unknown[] = [];
  const note = (): number => seen.push(active());
  await context.with(one, async () => {
    note();
    context.with(two, note);
    note();
    await Promise.resolve();
    note();
    await immediate();
    note();
    await timeout(1);
    note();
    await new Promise<void>((resolve) => {
      queueMicrotask(() => {
        note();
        process.nextTick(() => {
          note();
          resolve();
        });
      });
    });
    await Promise.all([context.with(two, immediate).then(note), immediate().then(note)]);
  });
  assert.deepEqual(seen, [1, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.equal(context.active(), ROOT_CONTEXT);
});

test('a callback has its receiver, arguments, result and error', () => {
  const receiver = { own: true };
  const callback = function (this: unknown, ...args: number[]): unknown[] {
    return [this, active(), ...args];
  };
  assert.deepEqual(context.with(one, callback, receiver, 1, 2, 3), [receiver, 1, 1, 2, 3]);
  assert.throws(() => context.with(one, () => assert.fail('thrown')), /thrown/);
  assert.equal(active(), undefined);
});

test('a bound function runs in its context', () => {
  const target = function (this: unknown, a: number, b: number): unknown[] {
    return [this, active(), a, b];
  };
  const bound = context.bind(one, target);
  assert.equal(bound.length, 2);
  assert.deepEqual(
    context.with(two, () => bound.call(key, 3, 4)),
    [key, 1, 3, 4],
  );
  assert.equal(context.bind(one, 5), 5);
});

test('listeners of a bound emitter run in its context', async () => {
  const emitter = new EventEmitter();
  const seen: unknown[] = [];
  const early = (): unknown => seen.push(['early', active()]);
  emitter.on('event', early);
  assert.equal(context.bind(one, emitter), emitter);
  assert.equal(context.bind(two, emitter), emitter, 'the first context stays');
  const listener = (value: unknown): unknown => seen.push([value, active()]);
  emitter.on('event', listener);
  emitter.addListener('event', listener);
  emitter.prependListener('event', listener);
  emitter.once('event', listener);
  emitter.prependOnceListener('event', listener);
  context.with(two, () => emitter.emit('event', 'a'));
  assert.deepEqual(seen, [
    ['a', 1],
    ['a', 1],
    ['early', 2],
    ['a', 1],
    ['a', 1],
    ['a', 1],
  ]);
  emitter.off('event', listener);
  emitter.removeListener('event', listener);
  emitter.off('event', early);
  assert.equal(emitter.listenerCount('event'), 1);
  emitter.removeAllListeners();
  assert.equal(emitter.listenerCount('event'), 0);
  emitter.once('event', listener);
  emitter.off('event', listener);
  assert.equal(emitter.listenerCount('event'), 0, 'a listener of once can be removed');
  const waits = context.with(two, () => once(emitter, 'other'));
  emitter.emit('other', 5);
  assert.deepEqual(await waits, [5]);
});

test('a context can be attached and restored', async () => {
  await context.with(two, async () => {
    await immediate();
    const token = context.attach(one);
    assert.equal(active(), 1);
    await immediate();
    assert.equal(active(), 1);
    token.dispose();
    assert.equal(active(), 2);
    token.dispose();
    assert.equal(active(), 2);
  });
});

test('contexts that are derived a million times stay as flat as the first', () => {
  const span = trace.wrapSpanContext({
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    traceFlags: 1,
  });
  let derived: Context = withSpan(one, span);
  for (let count = 0; count < 1_000_000; count++) {
    derived = count % 10 === 0 ? derived.setValue(key, count) : trace.setSpan(derived, span);
  }
  assert.equal(derived.getValue(key), 999_990);
  assert.equal(trace.getSpan(derived), span);
  assert.equal(derived.getValue(Symbol('other')), undefined);
});

test('values of the base are seen until a derived context sets or deletes them', () => {
  const derived = withSpan(one, undefined);
  assert.equal(derived.getValue(key), 1);
  assert.equal(derived.setValue(key, 5).getValue(key), 5);
  assert.equal(derived.deleteValue(key).getValue(key), undefined);
  assert.equal(derived.getValue(key), 1);
});

test('spans of concurrent tasks have their own parents', async () => {
  const tracer = trace.getTracer('app');
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      tracer.startActiveSpan(`task ${index}`, async (task) => {
        await timeout(index % 3);
        await tracer.startActiveSpan(`part ${index}`, async (part) => {
          await immediate();
          part.end();
        });
        task.end();
      }),
    ),
  );
  const spans = reader.spans();
  assert.equal(spans.length, 40);
  for (let index = 0; index < 20; index++) {
    const task = spans.find(({ name }) => name === `task ${index}`);
    const part = spans.find(({ name }) => name === `part ${index}`);
    assert.equal(part?.parentSpanId, task?.spanId);
    assert.equal(part?.traceId, task?.traceId);
    assert.equal(task?.parentSpanId, '');
  }
});

type Api = typeof import('@opentelemetry/api');

function isShared(copy: Api): void {
  assert.notEqual(copy.trace, trace);
  const tracer = copy.trace.getTracer('library');
  trace.getTracer('app').startActiveSpan('of the app', (outer) => {
    assert.equal(copy.trace.getActiveSpan(), outer);
    copy.context.with(copy.ROOT_CONTEXT.setValue(copy.createContextKey('test'), 7), () => {
      assert.equal(active(), 7);
    });
    tracer.startActiveSpan('of the copy', (inner) => {
      assert.equal(trace.getActiveSpan(), inner);
      inner.end();
    });
    outer.end();
  });
  const [inner, outer] = reader.spans();
  assert.equal(inner?.parentSpanId, outer?.spanId);
  assert.deepEqual(inner?.scope, ['library', '', '']);
}

test('the CommonJS build of the API uses the same tracer and contexts', () => {
  isShared(createRequire(import.meta.url)('@opentelemetry/api') as Api);
});

test('a second copy of the API uses the same tracer and contexts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redline-api-'));
  try {
    const original = dirname(dirname(createRequire(import.meta.url).resolve('@opentelemetry/api')));
    await cp(original, folder, { recursive: true });
    isShared((await import(pathToFileURL(join(folder, 'dist/index.mjs')).href)) as Api);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('another SDK that is registered stays', () => {
  const contexts = new AsyncContextManager();
  const propagator = createPropagator([]);
  const other = new TracerProvider({ writer: new RingWriter(createRing(1024), () => {}) });
  assert.equal(registerApi({ provider: other, contexts, propagator }), false);
  context.with(one, () => assert.equal(active(), 1));
});

test('a processor can be added to the registered tracer', () => {
  const seen: string[] = [];
  addSpanProcessor({
    onStart: ({ name }) => seen.push(`${name} starts`),
    onEnd: ({ name }) => seen.push(`${name} ends`),
    forceFlush: async () => {},
    shutdown: async () => {},
  });
  trace.getTracer('app').startSpan('span').end();
  assert.deepEqual(seen, ['span starts', 'span ends']);
  unregisterApi();
  assert.throws(
    () =>
      addSpanProcessor({ onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} }),
    /--import @redline\/telemetry\/register/,
  );
});
