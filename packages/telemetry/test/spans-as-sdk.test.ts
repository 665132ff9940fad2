// Each program runs on this package and on the SDK of OpenTelemetry, and has to make the same spans and the same warnings.
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type SpanOptions,
  type TimeInput,
  type Tracer,
} from '@opentelemetry/api';
import { suppressTracing, TraceState } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  createAlwaysRecordSampler,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanLimits,
} from '@opentelemetry/sdk-trace';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AsyncContextManager } from '../src/api/context-manager.ts';
import { hasAddon, outcomes, type Program, type ProgramOptions } from './span-program.ts';

before(() => context.setGlobalContextManager(new AsyncContextManager()));
after(() => context.disable());

let programs = 0;

function alike(name: string, program: Program, options?: ProgramOptions): void {
  const texts = outcomes(program, options).map((outcome) => JSON.stringify(outcome, undefined, 1));
  const expected = texts.at(-1);
  for (const text of texts) {
    // A comparison of texts first: the difference of large objects takes minutes to describe.
    if (text !== expected) assert.equal(text.slice(0, 20_000), expected?.slice(0, 20_000), name);
  }
  programs++;
}

const circular: Record<string, unknown> = {};
circular['self'] = circular;

const values: readonly unknown[] = [
  '',
  'text',
  'café 😀 and more of it',
  'long '.repeat(300),
  0,
  -0,
  1,
  -1.5,
  1e21,
  2 ** 53,
  -(2 ** 40),
  NaN,
  Infinity,
  true,
  false,
  null,
  undefined,
  Symbol('s'),
  10n,
  () => 1,
  new Date(0),
  /x/,
  new Map(),
  circular,
  [],
  ['a', 'b'],
  [1, 2.5],
  [true, false],
  ['a', null, undefined],
  [1, 'a', true],
  [['a'], [1, [2]]],
  ['long text in an array', 'short'],
  [10n],
  {},
  { a: 1, b: { c: ['x', null], d: undefined } },
  { bad: 10n },
  new Uint8Array([1, 2, 3, 250]),
  new Uint8Array(40),
  Object.create(null),
];

const limitSets: readonly (SpanLimits | undefined)[] = [
  undefined,
  { attributeValueLengthLimit: 4 },
  { attributeCountLimit: 2, attributePerEventCountLimit: 1, attributePerLinkCountLimit: 1 },
  { attributeCountLimit: 0, eventCountLimit: 0, linkCountLimit: 0 },
  { eventCountLimit: 2, linkCountLimit: 2, attributeValueLengthLimit: 1 },
];

const remote = (flags: number, state?: string): Context =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: new TraceState(state) }),
  });

const invalid = trace.setSpanContext(ROOT_CONTEXT, {
  traceId: '00000000000000000000000000000000',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
});

const parents: readonly [string, (tracer: Tracer) => Context | undefined][] = [
  ['none', () => undefined],
  ['root', () => ROOT_CONTEXT],
  ['local', (tracer) => trace.setSpan(ROOT_CONTEXT, tracer.startSpan('parent'))],
  ['sampled remote', () => remote(TraceFlags.SAMPLED)],
  ['remote with a state', () => remote(TraceFlags.SAMPLED, 'vendor=1,other=x')],
  ['remote with other flags', () => remote(0x03)],
  ['unsampled remote', () => remote(TraceFlags.NONE, 'a=b')],
  ['invalid', () => invalid],
  ['suppressed', () => suppressTracing(remote(TraceFlags.SAMPLED))],
];

const linkTo = (attributes?: Attributes, isRemote?: boolean): Link => ({
  context: {
    traceId: 'AF7651916CD43DD8448EB211C80319C0'.toLowerCase(),
    spanId: '00f067aa0ba902b7',
    traceFlags: 1,
    ...(isRemote !== undefined && { isRemote }),
    traceState: new TraceState('k=v'),
  },
  ...(attributes && { attributes }),
});

const past = new Date('2001-09-09T01:46:40.123Z');
const times: readonly (TimeInput | undefined)[] = [
  undefined,
  past,
  [1_000_000_000, 1],
  [4_000_000_000, 999_999_999],
  2_000_000_000_123.5,
  3,
];

test('kinds, parents and options', () => {
  const kinds = [undefined, ...Object.values(SpanKind).filter((kind) => typeof kind === 'number')];
  for (const kind of kinds) {
    for (const [name, parentOf] of parents) {
      for (const root of [undefined, true, false]) {
        for (const links of [undefined, [], [linkTo({ a: 1 }, true), linkTo()]]) {
          const options: SpanOptions = {
            ...(kind !== undefined && { kind }),
            ...(root !== undefined && { root }),
            ...(links && { links }),
          };
          alike(`${name} ${JSON.stringify(options)}`, (tracer) => {
            const parent = parentOf(tracer);
            const span = tracer.startSpan('span', options, parent);
            const inner = tracer.startSpan('inner', {}, trace.setSpan(ROOT_CONTEXT, span));
            inner.end();
            span.end();
            const local = parent && trace.getSpan(parent);
            return local ? [local] : [];
          });
        }
      }
    }
  }
});

test('attribute values of all types, under limits', () => {
  for (const limits of limitSets) {
    for (const value of values) {
      const options = limits && { limits };
      const name = `${String(typeof value)} ${JSON.stringify(limits)}`;
      alike(
        name,
        (tracer) => tracer.startSpan('start', { attributes: { a: 1, key: value, z: 'z' } }),
        options,
      );
      alike(
        name,
        (tracer) => {
          const span = tracer.startSpan('set');
          span.setAttribute('key', value).setAttribute('key', 'again').setAttribute('key', value);
          span.setAttributes({ one: value, two: value, '': value, three: 3 });
          return span;
        },
        options,
      );
      alike(
        name,
        (tracer) => {
          const span = tracer.startSpan('parts', { links: [linkTo({ first: value, second: 2 })] });
          span.addEvent('event', { key: value, other: 1 } as Attributes);
          span.addLink(linkTo({ key: value, other: value }));
          return span;
        },
        options,
      );
    }
  }
});

test('attributes that are none', () => {
  const wrong = [
    undefined,
    null,
    'text',
    5,
    [],
    ['a'],
    new (class A {
      a = 1;
    })(),
  ];
  for (const attributes of wrong) {
    alike(String(attributes), (tracer) => {
      const span = tracer.startSpan('span', { attributes: attributes as unknown as Attributes });
      span.addEvent('event', attributes as unknown as Attributes);
      span.addLink({ ...linkTo(), attributes: attributes as unknown as Attributes });
      return span;
    });
  }
});

test('more attributes, events and links than the limits allow', () => {
  for (const limits of limitSets) {
    for (const count of [0, 1, 2, 3, 127, 128, 129]) {
      const keys = Array.from({ length: count }, (_, index) => `key ${index}`);
      const attributes = Object.fromEntries(keys.map((key) => [key, key]));
      const links = keys.map((key) => linkTo({ [key]: 1, other: 2 }));
      alike(
        `${count} ${JSON.stringify(limits)}`,
        (tracer) => {
          const span = tracer.startSpan('span', { attributes, links });
          span.setAttributes({ ...attributes, 'key 0': 'changed', more: 1 });
          for (const key of keys) span.addEvent(key, { [key]: 1, other: 2 });
          span.addEvent('all', attributes).addLinks(links).addLink(linkTo(attributes));
          return span;
        },
        limits && { limits },
      );
    }
  }
});

test('statuses replace each other in their order', () => {
  const statuses = [
    { code: SpanStatusCode.UNSET, message: 'none' },
    { code: SpanStatusCode.OK, message: 'dropped' },
    { code: SpanStatusCode.ERROR },
    { code: SpanStatusCode.ERROR, message: 'bad' },
    { code: SpanStatusCode.ERROR, message: '' },
    { code: SpanStatusCode.ERROR, message: 5 as unknown as string },
    { code: SpanStatusCode.ERROR, message: null as unknown as string },
  ];
  for (const one of statuses) {
    for (const two of statuses) {
      for (const three of statuses) {
        alike(JSON.stringify([one, two, three]), (tracer) =>
          tracer.startSpan('span').setStatus(one).setStatus(two).setStatus(three),
        );
      }
    }
  }
});

test('exceptions', () => {
  const typed = new TypeError('wrong');
  typed.stack = 'TypeError: wrong\n    at here';
  const exceptions: readonly unknown[] = [
    'text',
    '',
    null,
    undefined,
    {},
    typed,
    { code: 5 },
    { code: 'E', name: 'N', message: 'M', stack: 'S' },
    { name: 'N' },
    { message: 'M' },
    { stack: 'S' },
    { code: 'E', message: { a: 1 } },
    { code: 0, name: '', message: '' },
  ];
  for (const exception of exceptions) {
    for (const time of times) {
      alike(String(exception), (tracer) => {
        const span = tracer.startSpan('span');
        span.recordException(exception as string, time);
        return span;
      });
    }
  }
});

test('times of spans and events', () => {
  for (const start of times) {
    for (const end of times) {
      for (const event of times) {
        const name = [start, event, end].map(String).join(' ');
        alike(name, (tracer) => {
          const span = tracer.startSpan('span', start === undefined ? {} : { startTime: start });
          span.addEvent('bare').addEvent('attributes', { a: 1 }, event).addEvent('time', event);
          span.addEvent('both', past, event);
          span.end(end);
        });
      }
    }
  }
  const wrong = ['text', null, {}, [1], [1, '2']] as unknown as TimeInput[];
  for (const time of wrong) {
    alike(String(time), (tracer) => {
      const span = tracer.startSpan('span', { startTime: time });
      span.addEvent('event', { a: 1 }, time);
      span.end(time);
    });
  }
});

test('a Date of the present is no end before the start', () => {
  for (let attempt = 0; attempt < 20; attempt++) {
    alike('start by clock', (tracer) => tracer.startSpan('span').end(new Date()));
    alike('start by Date', (tracer) =>
      tracer.startSpan('span', { startTime: new Date() }).end(performance.now()),
    );
    alike('both', (tracer) => tracer.startSpan('span', { startTime: new Date() }).end(Date.now()));
  }
});

test('a span that has ended takes no changes', () => {
  alike('ended', (tracer) => {
    const span = tracer.startSpan('span', { attributes: { a: 1 } });
    assert.equal(span.isRecording(), true);
    span.end();
    assert.equal(span.isRecording(), false);
    span.setAttribute('a', 2).setAttributes({ b: 1 }).addEvent('late').addLink(linkTo());
    span.addLinks([linkTo()]).setStatus({ code: SpanStatusCode.ERROR }).updateName('late');
    span.recordException('late');
    span.end();
    span.end(past);
  });
});

test('names and scopes', () => {
  for (const name of ['', 'a', 'GET /ü', 'x'.repeat(1000), 5 as unknown as string]) {
    alike(String(name), (tracer) => tracer.startSpan(String(name)).updateName(`${name} changed`));
    alike(String(name), (_, provider) => [
      provider.getTracer(String(name)).startSpan('one'),
      provider.getTracer(String(name), '1').startSpan('two'),
      provider
        .getTracer(String(name), '1', { schemaUrl: 'https://example.com/1' })
        .startSpan('three'),
      provider.getTracer('', '').startSpan('four'),
    ]);
  }
});

test('active spans are the parents of those that start in them', () => {
  alike('nested', (tracer) => {
    const result = tracer.startActiveSpan('one', (one) => {
      assert.equal(trace.getActiveSpan(), one);
      tracer.startActiveSpan('two', { kind: SpanKind.CLIENT }, (two) => {
        tracer.startSpan('three').end();
        tracer.startActiveSpan('root', { root: true }, (root) => {
          tracer.startSpan('of root').end();
          root.end();
        });
        tracer.startActiveSpan('remote', {}, remote(1, 'a=1'), (span) => {
          tracer.startSpan('of remote').end();
          span.end();
        });
        two.end();
      });
      assert.equal(trace.getActiveSpan(), one);
      tracer.startSpan('four').end();
      one.end();
      return 5;
    });
    assert.equal(result, 5);
    assert.equal(trace.getActiveSpan(), undefined);
    assert.throws(() => tracer.startActiveSpan('throws', () => assert.fail()));
  });
});

const adding: Sampler = {
  shouldSample: (_, traceId, name, kind, attributes, links) => ({
    decision: SamplingDecision.RECORD_AND_SAMPLED,
    attributes: {
      sampler: 'adds',
      seen: [name, kind, traceId.length, links.length],
      ...attributes,
      a: 9,
    },
    traceState: new TraceState('sampler=1'),
  }),
};

test('samplers', () => {
  const samplers: readonly Sampler[] = [
    new AlwaysOnSampler(),
    new AlwaysOffSampler(),
    new TraceIdRatioBasedSampler(1),
    new TraceIdRatioBasedSampler(0),
    new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    new ParentBasedSampler({
      root: new AlwaysOnSampler(),
      remoteParentSampled: new AlwaysOffSampler(),
    }),
    createAlwaysRecordSampler(new AlwaysOffSampler()),
    adding,
  ];
  for (const sampler of samplers) {
    for (const limits of limitSets) {
      for (const [name, parentOf] of parents) {
        alike(
          `${sampler.toString()} ${name}`,
          (tracer) => {
            const options = {
              attributes: { a: 1, '': 2, b: 10n, c: 'c' },
              links: [linkTo({ a: 10n })],
            };
            const span = tracer.startSpan('span', options, parentOf(tracer));
            span.setAttribute('d', 1);
            return [span, tracer.startSpan('inner', {}, trace.setSpan(ROOT_CONTEXT, span))];
          },
          { sampler, ...(limits && { limits }) },
        );
      }
    }
  }
});

/** Returns numbers below a bound, the same ones for a seed. */
function randomFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % bound;
  };
}

/** A program of random calls on spans that are under way. */
function randomProgram(seed: number): Program {
  return (tracer) => {
    const random = randomFrom(seed);
    const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T;
    const attributes = (): Attributes =>
      Object.fromEntries(
        Array.from({ length: random(5) }, () => [
          pick(['a', 'b', 'c', '', 'long key']),
          pick(values),
        ]),
      );
    const spans = [tracer.startSpan('first')];
    const calls = [
      () =>
        spans.push(
          tracer.startSpan(
            pick(['one', 'two']),
            {
              kind: random(5),
              attributes: attributes(),
              links: Array.from({ length: random(4) }, () => linkTo(attributes(), random(2) === 0)),
              ...(random(2) === 0 && { startTime: pick(times.slice(1)) }),
              root: random(8) === 0,
            } as SpanOptions,
            trace.setSpan(ROOT_CONTEXT, pick(spans)),
          ),
        ),
      () => pick(spans).setAttribute(pick(['a', 'b', 'd']), pick(values)),
      () => pick(spans).setAttributes(attributes()),
      () => pick(spans).addEvent(pick(['e', 'f']), attributes(), pick(times)),
      () => pick(spans).addEvent('time alone', pick(times)),
      () => pick(spans).addLinks([linkTo(attributes())]),
      () => pick(spans).setStatus({ code: random(3), message: pick(['', 'm']) }),
      () => pick(spans).updateName(pick(['new', 'newer'])),
      () => pick(spans).recordException(pick([new Error('e'), 'text']) as Error, pick(times)),
      () => pick(spans).end(pick(times)),
    ];
    // Stacks name the lines that are alike in both runs.
    Error.stackTraceLimit = 0;
    for (let count = random(40); count > 0; count--) pick(calls)();
    Error.stackTraceLimit = 10;
    return spans;
  };
}

test('random calls', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const limits = limitSets[seed % limitSets.length];
    alike(`seed ${seed}`, randomProgram(seed), limits && { limits });
  }
});

test('enough programs ran', () => {
  assert.ok(programs > 2000, `${programs} programs`);
});

test('what the addon sends was compared', { skip: !hasAddon && 'no addon is built here' }, () => {
  assert.equal(outcomes((tracer) => tracer.startSpan('span')).length, 3);
});
