// The contract suite itself: it passes a sink that keeps to it, and names the sentence that another breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Delivery, DeliveryResult, Sink } from '../src/sink.ts';
import { sinkContract, type Message, type SinkTraits } from '../src/testing/index.ts';
import { runContract } from './sinks/run-contract.ts';

type Send = (list: Message[], batch: readonly Delivery[], signal: AbortSignal) => Promise<unknown>;

const right: Send = async (list, batch, signal) => {
  signal.throwIfAborted();
  list.push(...batch.map(({ id, job, json }) => ({ id, job, data: JSON.parse(json) })));
};

function listSink(send: Send = right, traits: Partial<SinkTraits> = {}): SinkTraits {
  return {
    dedupes: false,
    open() {
      const list: Message[] = [];
      const sink = (): Sink => ({
        kind: 'list',
        send: (batch, signal) => send(list, batch, signal) as Promise<DeliveryResult[]>,
      });
      return { sink, received: () => list };
    },
    ...traits,
  };
}

describe('a sink that keeps to the contract', () => runContract(listSink()));

describe('the contract', () => {
  const broken: Record<string, [send: Send, traits: Partial<SinkTraits>, sentence: RegExp]> = {
    'that loses a job': [
      (list, batch, signal) => right(list, batch.slice(1), signal),
      {},
      /takes a batch whole/,
    ],
    'that answers too few results': [
      async (list, batch, signal) => {
        await right(list, batch, signal);
        return [undefined];
      },
      {},
      /takes a batch whole/,
    ],
    'that answers what is not a result': [
      async (list, batch, signal) => {
        await right(list, batch, signal);
        return batch.map(() => ({ kind: 'failed' }));
      },
      {},
      /takes a batch whole/,
    ],
    'that sends a job twice': [
      async (list, batch, signal) => {
        await right(list, batch, signal);
        if (batch.length === 50) await right(list, batch.slice(0, 1), signal);
      },
      {},
      /none lost and none twice/,
    ],
    'that loses the order': [
      (list, batch, signal) => right(list, batch.toReversed(), signal),
      {},
      /keeps the order/,
    ],
    'that promises to dedupe, and does not': [right, { dedupes: true }, /once that was sent twice/],
    'that takes what its server was said to refuse': [
      right,
      { poison: { key: 'poison' } },
      /that the server refuses/,
    ],
    'that ignores its signal': [
      (list, batch) => right(list, batch, new AbortController().signal),
      {},
      /rejects when its time is up/,
    ],
    'that knows jobs by their key alone': [
      async (list, batch, signal) => {
        const known = new Set(list.map(({ key }) => key));
        for (const each of batch) {
          if (each.key !== undefined && known.has(each.key)) continue;
          known.add(each.key);
          await right(list, [each], signal);
          list.at(-1)!.key = each.key;
        }
      },
      {},
      /two kinds apart/,
    ],
    'that refuses half an emoji': [
      async (list, batch, signal) => {
        await right(list, batch, signal);
        if (batch.some(({ key }) => key?.isWellFormed() === false)) throw new Error('bad key');
      },
      {},
      /half an emoji/,
    ],
  };
  for (const [which, [send, traits, sentence]] of Object.entries(broken)) {
    it(`fails a sink ${which}`, async () => {
      const failed: string[] = [];
      for (const { name, skip, run } of sinkContract(listSink(send, traits))) {
        if (skip === false) await run().catch(() => failed.push(name));
      }
      assert.ok(
        failed.some((name) => sentence.test(name)),
        `failed: ${failed.join('; ') || 'nothing'}`,
      );
    });
  }

  it('cleans up behind each case, the last first, also behind one that fails', async () => {
    const done: string[] = [];
    const traits = listSink(async () => {
      throw new Error('always');
    });
    const [first] = sinkContract({
      ...traits,
      open(cleanUp) {
        cleanUp.after(() => done.push('server'));
        cleanUp.after(async () => done.push('client'));
        return traits.open(cleanUp);
      },
    });
    await assert.rejects(first!.run(), /always/);
    assert.deepEqual(done, ['client', 'server']);
  });
});
