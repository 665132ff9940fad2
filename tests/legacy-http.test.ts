import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, get, type RequestListener } from 'node:http';
import Module, { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import redline from '@redline/eslint-plugin';
import { Linter } from 'eslint';
import { steps as names } from '../examples/legacy-http/build.mts';

const folder = join(import.meta.dirname, '../examples/legacy-http/src');
const require = createRequire(import.meta.url);
const steps = names.map((name) => `${name}.js`);

/** Of the discounts of a shop that are asked for: `legacy-http.slow.test.ts` asks for all. */
const discountStep = Number(process.env['REDLINE_DISCOUNT_STEP'] ?? 5);

/** Every page, every category, and what people and robots put behind a question mark. */
function* requests(): Generator<{ path: string; cookie?: string }> {
  const cookies = ['customer=c1029; lang=en', 'customer=%C3%84nne;seen', 'a=b=c; ; customer=x'];
  for (const path of ['/', '/about', '/about/', '/blog/old-post', '/nothing', '/shop/list']) {
    yield { path };
    yield { path: `${path}?a?b`, cookie: cookies[0]! };
  }
  for (const category of ['shoes', 'coats', 'hats', 'bags', 'tents']) {
    for (const query of queries()) {
      const cookie = cookies[query.length % 4];
      yield { path: `/shop/${category}/list${query}`, ...(cookie && { cookie }) };
    }
    for (const id of [1, 7, 799, 800, 801, 99_999]) yield { path: `/shop/${category}/item/${id}` };
  }
}

function* queries(): Generator<string> {
  yield* ['', '?', '?&', '?page', '?page=x', '?page=0', '?page=999', '?page=2&page=3', '?page=2=3'];
  yield* ['?color=', '?color=red', '?color=red,blue,none', '?color=red%2Cblue', '?color=no?page=2'];
  yield* [
    '?min=80',
    '?max=20',
    '?min=80&max=20',
    '?min=x',
    '?max=1e2',
    '?discount=-5',
    '?discount=abc',
  ];
  for (let discount = 0; discount <= 100; discount += discountStep) {
    yield `?discount=${discount}&page=${1 + (discount % 7)}&min=${discount}&color=green,grey,pink`;
  }
  for (let page = 1; page < 22; page++) yield `?page=${page}&discount=33.3`;
}

/** Of what `redline doctor` finds in the original, the rules whose rewrites do the same for every request. */
const rewritingRules = ['no-map-filter-chain', 'no-sort-for-extremum', 'no-split-for-pair'];

/** The original, with every rewrite of the rules made. */
function rewritten(rules: readonly string[]): RequestListener {
  const path = join(folder, steps[0]!);
  const original = readFileSync(path, 'utf8');
  const module = new Module(path) as Module & { _compile(text: string, path: string): void };
  module.paths = [folder];
  module.filename = path;
  module._compile(rules.reduce(withRewrites, original), path);
  return module.exports as RequestListener;
}

function withRewrites(text: string, rule: string): string {
  const messages = new Linter().verify(text, {
    plugins: { '@redline': redline },
    rules: { [`@redline/${rule}`]: 'error' },
    languageOptions: { sourceType: 'script' },
  });
  const fixes = messages.flatMap(({ suggestions = [] }) => suggestions.map(({ fix }) => fix));
  assert.ok(fixes.length > 0, rule);
  return fixes
    .toSorted((a, b) => b.range[0] - a.range[0])
    .reduce(
      (all, { range, text: own }) => all.slice(0, range[0]) + own + all.slice(range[1]),
      text,
    );
}

describe('the steps of the legacy server', () => {
  for (const step of steps) {
    test(`${step} is written in what Node 6 understands`, () => {
      const text = readFileSync(join(folder, step), 'utf8');
      const languageOptions = { ecmaVersion: 2016, sourceType: 'script' } as const;
      assert.deepEqual(new Linter().verify(text, { languageOptions }), []);
    });
  }

  const servers = [
    ...steps.map((step) => ({ step, handle: require(join(folder, step)) as RequestListener })),
    ...rewritingRules.map((rule) => ({
      step: `${steps[0]} after ${rule}`,
      handle: rewritten([rule]),
    })),
    { step: `${steps[0]} after all of them`, handle: rewritten(rewritingRules) },
  ].map(({ step, handle }) => ({ step, server: createServer(handle) }));
  after(() => servers.forEach(({ server }) => server.close()));

  test('answer every request with the same bytes', async () => {
    assert.ok(steps.length > 5);
    for (const { server } of servers) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    const [original, ...others] = servers;
    let compared = 0;
    for (const { path, cookie } of requests()) {
      const expected = await ask(original!.server, path, cookie);
      for (const { step, server } of others) {
        assert.equal(await ask(server, path, cookie), expected, `${step} answers ${path}`);
      }
      compared++;
    }
    assert.ok(compared > (discountStep > 0.5 ? 300 : 1_000), `${compared} requests`);
  });
});

function ask(
  server: ReturnType<typeof createServer>,
  path: string,
  cookie?: string,
): Promise<string> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const headers = cookie === undefined ? {} : { cookie };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      let text = `${answer.statusCode} ${JSON.stringify(answer.headers['content-type'])} `;
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
      answer.on('error', reject);
    }).on('error', reject);
  });
}
