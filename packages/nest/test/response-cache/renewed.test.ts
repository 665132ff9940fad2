import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Controller, Get, Req } from '@nestjs/common';
import { JsonCache } from '@redline/nest';
import { isRenewal } from '@redline/response-cache';
import { onBothFrameworks, startApp, until } from './harness.ts';

let gate = Promise.withResolvers<void>();
let asked: boolean[] = [];

const policy = { ttl: 600_000, stale: 600_000, renew: 'behind', reads: 'ignored' } as const;

async function make(request: object): Promise<unknown> {
  asked.push(isRenewal(request));
  if (asked.length === 2) await gate.promise;
  return { run: asked.length };
}

@Controller()
class Items {
  @Get('handler')
  @JsonCache({ ...policy, tags: ['items'] })
  inHandler(@Req() request: object): unknown {
    return make(request);
  }

  @Get('hook')
  @JsonCache({ ...policy, tags: ['items'], at: 'hook' })
  inHook(@Req() request: object): unknown {
    return make(request);
  }
}

onBothFrameworks('A route of Nest that is renewed behind its responses', (framework) => {
  for (const path of ['/handler', '/hook']) {
    it(`sends the old one at once, and has the new one made once, ${path}`, async (t) => {
      gate = Promise.withResolvers<void>();
      asked = [];
      const app = await startApp(framework, [Items]);
      t.after(() => app.stop());
      assert.equal(await app.text(path), '{"run":1}');
      await app.cache.invalidate('items', { soft: true });
      for (let i = 0; i < 5; i++) assert.equal(await app.text(path), '{"run":1}');
      await until('the renewal', () => asked.length === 2);
      assert.equal(await app.text(path), '{"run":1}');
      gate.resolve();
      await until('the new response', async () => (await app.text(path)) !== '{"run":1}');
      assert.equal(await app.text(path), '{"run":2}');
      assert.deepEqual(asked, [false, true]);
      await app.cache.purge({ prefix: path });
      assert.equal(await app.text(path), '{"run":3}');
    });
  }
});
