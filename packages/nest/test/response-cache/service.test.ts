import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { Controller, Get, Param, Req } from '@nestjs/common';
import { JsonCache, JsonCacheService, memoryStore, type JsonStore } from '@redline/nest';
import { onBothFrameworks, startApp, type TestApp } from './harness.ts';

let runs = 0;
const decisions = new Map<string, object>();

@Controller('items')
class ItemsController {
  constructor(private readonly cache: JsonCacheService) {}

  @Get(':id')
  @JsonCache<{ params: { id: string } }>({
    tags: ({ params }, item) => ['items', `item:${params.id}`, `owner:${(item as Item).owner}`],
  })
  item(@Param('id') id: string, @Req() request: object): Item {
    this.cache.decide(request, decisions.get(id) ?? {});
    return { id, owner: 'ann', runs: (runs += 1) };
  }

  @Get(':id/named')
  @JsonCache({ cache: 'second', tags: ['items'] })
  named(): object {
    return { runs: (runs += 1) };
  }
}

interface Item {
  id: string;
  owner: string;
  runs: number;
}

onBothFrameworks('JsonCacheService', (framework) => {
  let test: TestApp;
  before(async () => {
    const caches = { second: { ttl: 60_000 } };
    test = await startApp(framework, [ItemsController], { ttl: 60_000, caches });
  });
  after(() => test.stop());
  beforeEach(async () => {
    runs = 0;
    decisions.clear();
    await test.cache.clear();
    await test.cache.named('second').clear();
  });
  const runsOf = async (path: string): Promise<number> => JSON.parse(await test.text(path)).runs;

  it('forgets by tags: of the request, of the result, one or several', async () => {
    for (const [tags, gone] of [
      ['item:1', ['1']],
      ['owner:ann', ['1', '2']],
      [
        ['item:1', 'item:2'],
        ['1', '2'],
      ],
      ['owner:bob', []],
    ] as const) {
      await test.cache.clear();
      const first = [await runsOf('/items/1'), await runsOf('/items/2')];
      assert.deepEqual([await runsOf('/items/1'), await runsOf('/items/2')], first);
      await test.cache.invalidate(tags);
      const now = [await runsOf('/items/1'), await runsOf('/items/2')];
      const changed = ['1', '2'].filter((_, index) => now[index] !== first[index]);
      assert.deepEqual(changed, gone);
    }
  });

  it('has what a handler decides count: not stored, or more tags', async () => {
    decisions.set('1', { ttl: 0 });
    decisions.set('2', { tags: ['special'] });
    assert.notEqual(await runsOf('/items/1'), await runsOf('/items/1'));
    const second = await runsOf('/items/2');
    assert.equal(await runsOf('/items/2'), second);
    await test.cache.invalidate('special');
    assert.notEqual(await runsOf('/items/2'), second);
  });

  it('keeps values of its own, out of the way of what routes have answered', async () => {
    const { cache } = test;
    await cache.set('/items/1', { mine: true }, { tags: ['mine'] });
    assert.equal(await runsOf('/items/1'), 1);
    assert.deepEqual(await cache.getMany(['/items/1', 'b']), [{ mine: true }, undefined]);
    assert.equal(await cache.wrap('b', () => 'made'), 'made');
    assert.equal(await cache.get('b'), 'made');
    await cache.invalidate('mine');
    assert.equal(await cache.get('/items/1'), undefined);
    await cache.delete('b');
    assert.equal(await cache.get('b'), undefined);
  });

  it('is one cache for each name, with its own answers and counters', async () => {
    const second = test.cache.named('second');
    assert.equal(await runsOf('/items/1/named'), 1);
    await test.cache.invalidate('items');
    assert.equal(await runsOf('/items/1/named'), 1);
    await second.invalidate('items');
    assert.equal(await runsOf('/items/1/named'), 2);
    assert.equal(second.stats.hits, 1);
    assert.throws(() => test.cache.named('third'), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: 'Unknown cache "third": the caches of JsonCacheModule are second.',
    });
  });
});

onBothFrameworks('A route with tags', (framework) => {
  it('does not start where the store has none', async () => {
    const store: JsonStore = { get: () => null, set() {}, delete() {} };
    const caches = { second: { store: memoryStore() } };
    await assert.rejects(startApp(framework, [ItemsController], { store, caches }), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: /^GET \/items\/:id \(ItemsController\.item\) has tags, but the store/,
    });
  });
});
