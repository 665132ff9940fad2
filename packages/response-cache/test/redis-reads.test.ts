import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RedisCommands } from '../src/redis-client.ts';
import { RedisReads } from '../src/redis-reads.ts';

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

describe('RedisReads', () => {
  it('reads each key of one turn of the event loop once, all with one command', async () => {
    const { commands, sent } = makeClient();
    const reads = new RedisReads(commands);
    const later = Promise.resolve().then(() => reads.get('b'));
    const found = await Promise.all([
      reads.get('a'),
      reads.getMany(['t', 'none', 'a']),
      reads.get('a'),
      later,
    ]);
    const values = ['value of a', ['value of t', null, 'value of a'], 'value of a', 'value of b'];
    assert.deepEqual(found, values);
    assert.deepEqual(sent, [['a', 't', 'none', 'b']]);
    await reads.get('a');
    assert.deepEqual(sent.length, 2);
  });

  it('reads values by themselves where commands do not leave together, and the tags of one moment at once', async () => {
    const { commands, sent } = makeClient({ batches: false });
    const reads = new RedisReads(commands);
    const found = await Promise.all([
      reads.get('a'),
      reads.getMany(['t', 'u']),
      reads.getMany(['u']),
    ]);
    assert.deepEqual(found, ['value of a', ['value of t', 'value of u'], ['value of u']]);
    assert.deepEqual(sent, [['a'], ['t', 'u']]);
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
        await Promise.all([reads.get('a'), reads.get('none'), reads.getMany(['t'])]),
        ['value of a', null, ['value of t']],
      );
    assert.deepEqual(new Set(sent.map(([key]) => key)), new Set(['a', 'none', 't']));
    assert.ok(refusals > 0);
  });

  it('rejects for all who asked where the client fails', async () => {
    const { commands } = makeClient({ mget: () => Promise.reject(new Error('closed')) });
    const reads = new RedisReads(commands);
    const asked = await Promise.allSettled([reads.get('a'), reads.getMany(['b'])]);
    assert.deepEqual(
      asked.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
