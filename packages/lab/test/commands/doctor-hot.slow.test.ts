import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { Workbench } from './run-cli.ts';

const server = (handler: string, head = ''): string =>
  `const http = require('node:http');
${head}
http.createServer((request, response) => {
  ${handler}
}).listen(process.env.PORT, process.env.HOST);
`;

describe('redline doctor, with a command, names the function with the time first', () => {
  for (const [name, app, rule, line, why] of [
    [
      'Intl for each item',
      server(
        'response.end(JSON.stringify(shown()));',
        `const items = Array.from({ length: 100 }, (_, id) => id * 1.5);
function shown() {
  const all = [];
  for (const price of items) {
    all.push(new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(price));
  }
  return all;
}`,
      ),
      'hot-function',
      6,
      /^shown has \d+\D% of the time .* by locale/,
    ],
    [
      'a regular expression, by its source',
      server(
        'response.end(String(checkName()));',
        `const name = 'a'.repeat(14) + '!';
function checkName() {
  return /^(\\w+\\s?)*$/.test(name);
}`,
      ),
      'hot-function',
      4,
      /in the regular expression \/\^\(\\w\+\\s\?\)\*\$\//,
    ],
    [
      'a regular expression that a text of the request holds',
      server(
        "response.end(String(checkName('a'.repeat(14) + request.url)));",
        `function checkName(name) {
  const text = String(name);
  return /^(\\w+\\s?)*$/.test(text);
}`,
      ),
      'super-linear-regexp',
      4,
      /exponential time on "A" many times over/,
    ],
    [
      'a copy through JSON',
      server(
        'response.end(String(copyOf().k1.v));',
        `const config = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => ['k' + i, { v: i }]));
function copyOf() {
  return JSON.parse(JSON.stringify(config));
}`,
      ),
      'json-clone',
      4,
      /^The whole value is written as text and parsed again/,
    ],
  ] as const) {
    test(name, async (t) => {
      const bench = new Workbench(t);
      bench.write('app.cjs', app);
      const how = ['--seconds', '1', '--warmup', '0', '--json', 'r.json'];
      const { code, stderr, stdout } = await bench.runApp(['doctor', '/', ...how]);
      assert.equal(code, 0, stderr);
      const [first] = (JSON.parse(bench.read('r.json')) as DoctorResult).findings;
      assert.deepEqual([first?.rule, first?.file, first?.line], [rule, 'app.cjs', line], stdout);
      assert.match(first!.why, why);
      assert.ok(first!.cost!.share > 0.3 && first!.cost!.share <= 1, stdout);
    });
  }
});

const short = ['--seconds', '1', '--warmup', '0', '--json', 'r.json'];

test('redline doctor, with a command, names the package with the time, and the line that calls it', async (t) => {
  const bench = new Workbench(t);
  mkdirSync(`${bench.folder}/node_modules/slow-hash`, { recursive: true });
  bench.write(
    'node_modules/slow-hash/index.js',
    `function rounds(text) {
  let sum = 0;
  for (let i = 0; i < 100_000; i++) sum = (sum * 31 + text.charCodeAt(i % text.length)) % 1_000_003;
  return sum;
}
module.exports = { hash: rounds, later: (text, done) => setImmediate(() => done(rounds(text))) };
`,
  );
  for (const [call, line, why] of [
    ['response.end(String(login(request.url)))', 5, /^slow-hash has \d+\D% .*, called by login\.$/],
    [
      'later(request.url, (sum) => response.end(String(sum)))',
      2,
      /^slow-hash has \d+\D% .* included\.$/,
    ],
  ] as const) {
    bench.write(
      'app.cjs',
      `const http = require('node:http');
const { hash, later } = require('slow-hash');

function login(name) {
  return hash(name) + 1;
}
http.createServer((request, response) => {
  ${call};
}).listen(process.env.PORT, process.env.HOST);
`,
    );
    const command = ['--', process.execPath, 'app.cjs'];
    const { code, stderr, stdout } = await bench.run(['doctor', '/', ...short, ...command]);
    assert.equal(code, 0, stderr);
    const [first] = (JSON.parse(bench.read('r.json')) as DoctorResult).findings;
    assert.deepEqual(
      [first?.rule, first?.file, first?.line],
      ['hot-package', 'app.cjs', line],
      stdout,
    );
    assert.match(first!.why, why);
  }
});

test('redline doctor, with a command, names JSON and the rest of a function apart', async (t) => {
  const bench = new Workbench(t);
  bench.write(
    'app.cjs',
    server(
      'response.end(String(priced().length));',
      `const items = Array.from({ length: 300 }, (_, id) => ({ id, price: id * 1.5, tags: ['a', 'b', 'c', 'd'] }));
function priced() {
  let shown = '';
  for (const { price } of items) shown += price.toLocaleString('de-DE');
  for (let copy = 0; copy < 20; copy++) JSON.parse(JSON.stringify(items));
  return shown;
}`,
    ),
  );
  const command = ['--', process.execPath, 'app.cjs'];
  const { code, stderr, stdout } = await bench.run(['doctor', '/', ...short, ...command]);
  assert.equal(code, 0, stderr);
  const { findings, measured } = JSON.parse(bench.read('r.json')) as DoctorResult;
  const found = findings.filter(({ rule }) =>
    /^(hot-function|json-clone|json-under-load)$/.test(rule),
  );
  assert.deepEqual(
    found.map(({ rule }) => rule).toSorted(),
    ['hot-function', 'json-clone'],
    stdout,
  );
  // All shares are of one whole, so their sum is at most 1.
  const sum = found.reduce((all, { cost }) => all + cost!.share, 0);
  assert.ok(sum > 0.5 && sum <= 1, stdout);
  for (const { cost } of found) {
    const whole = cost!.microsPerRequest / cost!.share;
    assert.ok(Math.abs(whole / measured!.threadMicrosPerRequest - 1) < 1e-6, stdout);
  }
});

test('a list that was read from a cache and filtered is not said to be sent as it is', async (t) => {
  const bench = new Workbench(t);
  bench.write('package.json', '{"dependencies":{"ioredis":"5.0.0"}}');
  mkdirSync(`${bench.folder}/node_modules/ioredis`, { recursive: true });
  bench.write(
    'node_modules/ioredis/index.js',
    'module.exports = class Redis { async get() { return \'[{"id":1,"on":true},{"id":2}]\'; } };',
  );
  bench.write(
    'app.cjs',
    `const http = require('node:http');
const Redis = require('ioredis');
const redis = new Redis();
async function list() {
  const text = await redis.get('items');
  return JSON.parse(text);
}
async function session() {
  const text = await redis.get('session');
  return text ? JSON.parse(text) : {};
}
http.createServer(async (request, response) => {
  request.session = await session();
  const items = await list();
  response.end(JSON.stringify(items.filter((item) => item.on)));
}).listen(process.env.PORT, process.env.HOST);
`,
  );
  const how = ['--seconds', '1', '--warmup', '0', '--json', 'r.json'];
  const { code, stderr } = await bench.runApp(['doctor', '/', ...how]);
  assert.equal(code, 0, stderr);
  const { findings } = JSON.parse(bench.read('r.json')) as DoctorResult;
  assert.deepEqual(
    findings.filter(({ rule }) => rule === 'cached-json-parsed'),
    [],
  );
});
