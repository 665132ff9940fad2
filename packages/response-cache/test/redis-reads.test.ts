import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RedisCommands } from '../src/redis/redis-client.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { RedisReads } from '../src/redis/redis-reads.ts';

/** Notes what is sent, and has a value for each key but `none`. */
function makeClient(over: Partial<RedisCommands> = {}): {
  commands: RedisCommands;
  sent: string[][];
} {
  const sent: string[][] = [];
  const valueOf = (key: string): string | null => (key === 'none' ? null : `value of ${key}`);
  const commands = {
    batches: true,
    requireReady: () => {},
    async get(key: string) {
      sent.push([key]);
      return valueOf(key);
    },
    async mget(keys: string[]) {
      sent.push(keys);
      return keys.map(valueOf);
    },
    ...over,
  } as RedisCommands;
  return { commands, sent };
}

const asTheyAre = <Value>(values: readonly Value[]): readonly Value[] => values;

const asItIs = (name: string): string => name;

describe('RedisReads', () => {
  it('reads each key of one turn of the event loop once, all with one command', async () => {
    const { commands, sent } = makeClient();
    const reads = new RedisReads(commands);
    const later = Promise.resolve().then(() => reads.get('b', asItIs));
    const found = await Promise.all([
      reads.get('a', asItIs),
      reads.getMany(['t', 'none', 't'], asTheyAre, asTheyAre),
      reads.get('a', asItIs),
      later,
    ]);
    const values = ['value of a', ['value of t', null, 'value of t'], 'value of a', 'value of b'];
    assert.deepEqual(found, values);
    assert.deepEqual(sent, [['a', 't', 'none', 'b']]);
    await reads.get('a', asItIs);
    assert.deepEqual(sent.length, 2);
  });

  it('reads values by themselves where commands do not leave together, and the tags of one moment at once', async () => {
    const { commands, sent } = makeClient({ batches: false });
    const reads = new RedisReads(commands);
    const found = await Promise.all([
      reads.get('a', asItIs),
      reads.getMany(['t', 'u'], asTheyAre, asTheyAre),
      reads.getMany(['u'], asTheyAre, asTheyAre),
    ]);
    assert.deepEqual(found, ['value of a', ['value of t', 'value of u'], ['value of u']]);
    assert.deepEqual(sent, [['a'], ['t', 'u']]);
  });

  it('reads tags together and values by themselves from a server of a cluster that the client does not know of', async () => {
    const sent: string[][] = [];
    const slotOf = (key: string): string => /\{(.*?)\}/.exec(key)?.[1] ?? key;
    const { commands } = makeClient({
      async mget(keys) {
        sent.push(keys);
        if (new Set(keys.map(slotOf)).size === 1) return keys.map((key) => `value of ${key}`);
        throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
      },
    });
    const reads = new RedisReads(commands);
    for (let times = 0; times < 3; times++)
      assert.deepEqual(
        await Promise.all([
          reads.get('a', asItIs),
          reads.getMany(['{p}t', '{p}u'], asTheyAre, asTheyAre),
        ]),
        ['value of a', ['value of {p}t', 'value of {p}u']],
      );
    assert.deepEqual(sent, [
      ['a', '{p}t', '{p}u'],
      ['{p}t', '{p}u'],
      ['{p}t', '{p}u'],
    ]);
  });

  it('reads very many keys with several commands', async () => {
    const { commands, sent } = makeClient();
    const reads = new RedisReads(commands);
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
    const found = await Promise.all(keys.map((key) => reads.get(key, asItIs)));
    assert.deepEqual(
      found,
      keys.map((key) => `value of ${key}`),
    );
    assert.equal(sent.length, 4);
  });

  it('reads key by key once the server has refused to read several', async () => {
    let refusals = 0;
    const mget = async (): Promise<never> => {
      refusals += 1;
      throw new Error("NOPERM User plain has no permissions to run the 'mget' command");
    };
    const { commands, sent } = makeClient({ mget });
    const reads = new RedisReads(commands);
    for (let times = 0; times < 2; times++)
      assert.deepEqual(
        await Promise.all([
          reads.get('a', asItIs),
          reads.get('none', asItIs),
          reads.getMany(['t'], asTheyAre, asTheyAre),
        ]),
        ['value of a', null, ['value of t']],
      );
    assert.deepEqual(new Set(sent.map(([key]) => key)), new Set(['a', 'none', 't']));
    assert.ok(refusals > 0);
  });

  it('has a run shared by a read whose reply comes right before that of the write', async () => {
    const replies: (() => void)[] = [];
    const reply = <Value>(value: Value): Promise<Value> =>
      new Promise((resolve) => replies.push(() => resolve(value)));
    const { commands } = makeClient({ mget: (keys) => reply(keys.map(() => null)) });
    const reads = new RedisReads(commands);
    const store = {
      get: (key: string) => reads.get(key, asItIs),
      set: () => reply('OK'),
      delete: () => reply(1),
    };
    const cache = new JsonCache({ store, logger: false });
    let runs = 0;
    const ask = (): unknown => cache.answer('a', () => ({ runs: ++runs }));
    const early = ask();
    await nextTurn();
    const late = ask();
    await nextTurn();
    replies.shift()!();
    assert.equal(await early, '{"runs":1}');
    // What one read of the socket brings: the reply to the second read, and to the write.
    for (const each of replies.splice(0)) each();
    assert.equal(await late, '{"runs":1}');
    cache.close();
  });

  it('converts a list once for all who ask for it in one turn, and again in the next', async () => {
    const { commands } = makeClient();
    const reads = new RedisReads(commands);
    const tags = ['t', 'u'];
    let conversions = 0;
    const count = (values: readonly unknown[]): number => {
      conversions += 1;
      return values.length;
    };
    const ask = (): Promise<number[]> =>
      Promise.all([reads.getMany(tags, asTheyAre, count), reads.getMany(tags, asTheyAre, count)]);
    assert.deepEqual(await ask(), [2, 2]);
    assert.equal(conversions, 1);
    await ask();
    assert.equal(conversions, 2);
  });

  it('rejects for all who asked where the client fails', async () => {
    const { commands } = makeClient({ mget: () => Promise.reject(new Error('closed')) });
    const reads = new RedisReads(commands);
    const asked = await Promise.allSettled([
      reads.get('a', asItIs),
      reads.getMany(['b'], asTheyAre, asTheyAre),
    ]);
    assert.deepEqual(
      asked.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
