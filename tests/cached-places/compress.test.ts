// Compressed variants that the engine sends, and how it chooses between them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask, askFor, chooseEncoding, type Sent } from '../../packages/response-cache/test/ask.ts';
import { until } from '@redline/services/until';
import { frameworks, skip, startApp, type App } from './apps.ts';

const codings = ['br', 'zstd', 'gzip'] as const;
const text = 'naïve desks and chairs '.repeat(100);

/** Asks until the engine answers. */
async function fromEngine(app: App, path: string, headers: Record<string, string>): Promise<Sent> {
  let sent: Sent | undefined;
  await until(`for the engine, ${JSON.stringify(headers)}`, async () => {
    const { hits } = app.stats();
    sent = await ask(app.port, path, headers);
    return app.stats().hits > hits;
  });
  return sent!;
}

const lasting = ({ status, headers, text: body }: Sent): unknown => {
  const { date: _, connection: _1, 'keep-alive': _2, ...others } = headers;
  return [status, others, body];
};

for (const framework of frameworks) {
  describe(`compress at the engine, by ${framework}`, { skip }, () => {
    const policy = { at: 'engine', ttl: 60_000, compress: true } as const;
    const handler = (id: string): unknown => ({ id, text });

    it('sends the same variants as JavaScript does, each to all who choose it', async (t) => {
      const app = await startApp(t, framework, policy, { handler });
      const plain = await startApp(t, framework, { ...policy, at: 'hook' }, { handler });
      for (const coding of ['identity', ...codings]) {
        const headers = { 'accept-encoding': coding };
        if (coding !== 'identity') await askFor(coding, plain.port, '/items/1');
        else await ask(plain.port, '/items/1', headers);
        const hit = await fromEngine(app, '/items/1', headers);
        assert.deepEqual(lasting(hit), lasting(await ask(plain.port, '/items/1', headers)));
        assert.equal(hit.coding, coding === 'identity' ? undefined : coding);
        assert.deepEqual(JSON.parse(hit.text), { id: '1', text });
      }
      // All four are there: no header reaches JavaScript from now on, except one that comes twice.
      const { hits, kept } = app.stats();
      const accepts = [
        '',
        'gzip, deflate, br, zstd',
        'gzip;q=0.9, br;q=0.1',
        'deflate',
        '*;q=0',
        'X-GZIP',
      ];
      for (const accept of accepts) {
        const { coding } = await ask(app.port, '/items/1', { 'accept-encoding': accept });
        assert.equal(coding, chooseEncoding(accept, codings), accept);
      }
      assert.equal((await ask(app.port, '/items/1')).coding, undefined);
      assert.deepEqual([app.stats().hits, app.stats().kept], [hits + accepts.length + 1, kept]);
      assert.equal(app.runs(), 1);
    });

    it('chooses as JavaScript does, whatever the header says', async (t) => {
      const app = await startApp(t, framework, policy, { handler });
      for (const coding of ['identity', ...codings])
        await fromEngine(app, '/items/1', { 'accept-encoding': coding });
      const { hits } = app.stats();
      // Numbers of Park and Miller: the same in each run.
      let state = 36;
      const below = (bound: number): number => (state = (state * 48_271) % 2_147_483_647) % bound;
      const one = <Value>(list: readonly Value[]): Value => list[below(list.length)]!;
      const rounds = 300;
      for (let i = 0; i < rounds; i++) {
        const elements = Array.from({ length: below(5) }, () => {
          const name = one([...codings, 'BR', 'x-gzip', 'identity', '*', 'deflate', '', 'b r']);
          const space = one(['', ' ', '\t']);
          const weight = one([
            '',
            'q=0',
            'q=1',
            'Q=0.5',
            'q=0.25',
            'q=0.001',
            'q=1.1',
            'q=x',
            'v=1;q=0.75',
          ]);
          return `${space}${name}${weight === '' ? '' : `${space};${space}${weight}`}`;
        });
        const accept = elements.join(',').trim();
        const sent = await ask(app.port, '/items/1', { 'accept-encoding': accept });
        assert.equal(sent.coding, chooseEncoding(accept, codings), JSON.stringify(accept));
        assert.deepEqual(JSON.parse(sent.text), { id: '1', text });
      }
      assert.equal(app.stats().hits, hits + rounds);
    });

    it('revalidates each variant by its own tag, and sends to HEAD what GET has', async (t) => {
      const defaults = { hosts: 'any', headers: ['etag'] } as const;
      const app = await startApp(t, framework, policy, { handler, defaults });
      const tags = new Map<string, string>();
      for (const coding of codings) {
        const headers = { 'accept-encoding': coding };
        const get = await fromEngine(app, '/items/1', headers);
        tags.set(coding, get.headers.etag!);
        const head = await ask(app.port, '/items/1', headers, 'HEAD');
        assert.deepEqual(lasting({ ...head, text: get.text }), lasting(get));
      }
      assert.equal(new Set(tags.values()).size, codings.length);
      const before = app.stats();
      for (const [coding, tag] of tags) {
        for (const asked of tags.values()) {
          const headers = { 'accept-encoding': coding, 'if-none-match': asked };
          const { status, headers: sent } = await ask(app.port, '/items/1', headers);
          assert.deepEqual([status, sent.etag], [asked === tag ? 304 : 200, tag]);
        }
      }
      const { hits, notModified } = app.stats();
      assert.deepEqual([hits - before.hits, notModified - before.notModified], [9, 3]);
    });

    it('never keeps the text that is sent until a variant is made, nor that for a part', async (t) => {
      const app = await startApp(t, framework, policy, { handler });
      for (let id = 0; id < 20; id++) {
        const path = `/items/${id}`;
        const headers = { 'accept-encoding': 'gzip' };
        await Promise.all(Array.from({ length: 8 }, () => ask(app.port, path, headers)));
        await ask(app.port, path, { ...headers, range: 'bytes=0-1' });
        await ask(app.port, path, { ...headers, range: 'bytes=0-1' });
        assert.equal((await fromEngine(app, path, headers)).coding, 'gzip');
      }
    });

    it('drops all variants with the response', async (t) => {
      let version = 1;
      const app = await startApp(
        t,
        framework,
        { ...policy, tags: ['all'] },
        {
          handler: () => ({ version, text }),
        },
      );
      for (const coding of ['identity', ...codings])
        await fromEngine(app, '/items/1', { 'accept-encoding': coding });
      version = 2;
      await app.cache.invalidate('all');
      for (const coding of [...codings, 'identity']) {
        const sent = await ask(app.port, '/items/1', { 'accept-encoding': coding });
        assert.match(sent.text, /"version":2/, coding);
        const hit = await fromEngine(app, '/items/1', { 'accept-encoding': coding });
        assert.match(hit.text, /"version":2/, coding);
      }
    });
  });
}
