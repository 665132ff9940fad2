import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { retry, type RetryResult } from '../../src/sink.ts';
import { batched, handlers, type Handler } from '../../src/sinks/handlers.ts';
import { deliveries, delivery, host, type SpyHost } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { TestClock } from '../harness.ts';
import { runContract } from './run-contract.ts';

const inTime = (): AbortSignal => AbortSignal.timeout(60_000);

describe('handlers', () => {
  runContract({
    dedupes: false,
    poison: { job: 'forbidden' },
    async open() {
      const done: Message[] = [];
      const note = async (
        data: unknown,
        {
          job,
          id,
          context,
        }: { job: string; id: string; context: { traceparent?: string } | undefined },
      ): Promise<void> => {
        await new Promise(setImmediate);
        done.push({
          job,
          id,
          data,
          ...(context === undefined ? {} : { traceparent: context.traceparent }),
        });
      };
      return {
        sink: () =>
          handlers({
            'send-mail': note,
            log: note,
            forbidden: () => {
              throw Object.assign(new Error('never'), { retryable: false });
            },
          }),
        received: async () => done,
      };
    },
  });

  it('has what throws tried again, and what says it never will at the dead letters', async () => {
    const sink = handlers({
      passing: () => {
        throw new Error('later');
      },
      final: async () => {
        throw Object.assign(new Error('never'), { retryable: false });
      },
      good: () => 'ignored',
    });
    const batch = ['good', 'passing', 'final', 'good'].map((job) => delivery({ job }));
    const results = await sink.send(batch, inTime());
    assert.deepEqual(
      results?.map((result) => result && [result.kind, (result.error as Error).message]),
      [undefined, ['retry', 'later'], ['dead', 'never'], undefined],
    );
  });

  it('keeps a job it has no handler for as long as a deployment may take, and reports it once', async () => {
    const clock = new TestClock();
    const sink = handlers({ good: () => {} });
    const spy: SpyHost = { ...host(), clock };
    await sink.open!(spy);
    const batch = [delivery({ job: 'of-the-next-version' }), delivery({ job: 'good' })];
    const waits = ['retry', true];
    for (const [passMs, expected] of [
      [0, waits],
      [599_000, waits],
      [1_000, ['dead', undefined]],
    ] as const) {
      await clock.pass(passMs);
      const results = await sink.send(batch, inTime());
      assert.deepEqual(
        results?.map((result) => result && [result.kind, (result as RetryResult).isUntried]),
        [expected, undefined],
      );
    }
    assert.equal(spy.warnings.length, 1);
    assert.match(
      spy.warnings[0]!,
      /no handler for "of-the-next-version", only for good; .* 10 min/,
    );
  });

  it('runs a handler as the request did', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const sink = handlers({ 'send-mail': () => seen.push(storage.getStore()) });
    const snapshot = storage.run('request 1', () => AsyncLocalStorage.snapshot());
    await sink.send([delivery({ run: (work) => snapshot(work) }), delivery()], inTime());
    assert.deepEqual(seen, ['request 1', undefined]);
  });

  it('runs no more at a time than it may', async () => {
    let running = 0;
    let maxRunning = 0;
    const work = async (): Promise<void> => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await new Promise(setImmediate);
      running -= 1;
    };
    await handlers({ 'send-mail': work }, { concurrency: 3 }).send(deliveries(20), inTime());
    assert.equal(maxRunning, 3);
  });

  it('distinguishes jobs done when the time is over from those not done', async () => {
    const never = Promise.withResolvers<void>();
    const over = new AbortController();
    const sink = handlers({
      quick: () => {},
      slow: () => {
        over.abort(new Error('too slow'));
        return never.promise;
      },
    });
    const batch = ['quick', 'slow'].map((job) => delivery({ job }));
    const results = await sink.send(batch, over.signal);
    assert.deepEqual(
      results?.map((result) => result?.kind),
      [undefined, 'retry'],
    );
  });

  it('stops at the first that fails where order was asked for', async () => {
    const seen: number[] = [];
    const sink = handlers({
      'send-mail': ({ n }: { n: number }) => {
        seen.push(n);
        if (n === 2) throw new Error('not yet');
      },
    });
    await sink.open!(host(true));
    const results = await sink.send(deliveries(5), inTime());
    assert.deepEqual(seen, [0, 1, 2]);
    assert.deepEqual(
      results?.map((result) => result?.kind),
      [undefined, undefined, 'retry', 'retry', 'retry'],
    );
  });

  it('hands all jobs of a name to a batched handler, and takes its word on each', async () => {
    const calls: unknown[][] = [];
    const sink = handlers({
      log: batched((lines) => {
        calls.push(lines);
        return lines.map((_, index) => (index === 1 ? retry(new Error('that one')) : undefined));
      }),
      'send-mail': () => {},
    });
    const batch = ['log', 'send-mail', 'log', 'log'].map((job, n) =>
      delivery({ job, data: { n } }),
    );
    const results = await sink.send(batch, inTime());
    assert.deepEqual(calls, [[{ n: 0 }, { n: 2 }, { n: 3 }]]);
    assert.deepEqual(
      results?.map((result) => result?.kind),
      [undefined, undefined, 'retry', undefined],
    );
  });

  it('has the whole batch tried again when a batched handler throws or miscounts', async () => {
    for (const handler of [
      batched(() => {
        throw new Error('down');
      }),
      batched(() => [undefined]),
    ]) {
      const results = await handlers({ 'send-mail': handler }).send(deliveries(2), inTime());
      assert.deepEqual(
        results?.map((result) => result?.kind),
        ['retry', 'retry'],
      );
    }
  });

  it('takes no rows a batched handler returns for a verdict, and every verdict among them', async () => {
    const send = (answer: (n: number) => unknown[]) =>
      handlers({
        'send-mail': batched(async (data) => answer(data.length) as undefined[]),
      }).send(deliveries(2), inTime());
    assert.equal(await send((n) => Array.from({ length: n }, (_, id) => ({ id }))), undefined);
    assert.equal(await send(() => [null, 1, 'three']), undefined);
    assert.equal(await send(() => []), undefined);
    const mixed = await send(() => [{ id: 1 }, retry(new Error('that one'))]);
    assert.deepEqual(
      mixed?.map((result) => result?.kind),
      [undefined, 'retry'],
    );
  });

  for (const [what, wrap] of Object.entries({ single: (work: Handler) => work, batched })) {
    it(`tries one ${what} job of a kind that hangs, also when older ones end after it began`, async () => {
      const clock = new TestClock();
      let running = 0;
      const hanging = (_data: unknown, _from: unknown, signal: AbortSignal): Promise<undefined> => {
        running++;
        signal.addEventListener('abort', () => running--);
        return new Promise(() => {});
      };
      const sink = handlers({ 'send-mail': wrap(hanging) });
      sink.open!({ ...host(), clock });
      // Three that begin apart end apart: the first one's end lets another one try, which the ends of the others must not.
      for (let older = 0; older < 3; older++) {
        void sink.send([delivery()], inTime());
        await clock.pass(10_000);
      }
      for (let newer = 0; newer < 4; newer++) {
        await clock.pass(4_000);
        void sink.send([delivery()], inTime());
        await clock.pass(2_000);
      }
      assert.ok(running <= 1, `${running} at a time`);
    });
  }

  it('refuses at the call what it has no handler for', () => {
    const sink = handlers({ log: () => {} });
    assert.equal(sink.refuses!('log', undefined), undefined);
    assert.match(sink.refuses!('mail', undefined)!, /no handler for "mail", only for log/);
    assert.match(sink.refuses!('toString', undefined)!, /no handler/);
  });

  it('takes no handler that is no function, and no concurrency that is no number', () => {
    const code = 'ERR_REDLINE_DEFER_OPTION';
    assert.throws(() => handlers({ mail: 'send' as never }), { code });
    for (const concurrency of [0, -1, 1.5, Number.NaN]) {
      assert.throws(() => handlers({}, { concurrency }), { code });
    }
  });
});
