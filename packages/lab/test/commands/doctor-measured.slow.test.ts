import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { servingWarnings } from '../../src/doctor/cost/measure-app.ts';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { Workbench } from './run-cli.ts';

/** The least measuring there is. */
const shortest = ['--seconds', '1', '--warmup', '0', '--connections', '2', '--json', 'r.json'];

describe('redline doctor, with a command,', () => {
  test('says what each finding costs, finds what only the load shows, and puts last what it does not touch', async (t) => {
    const bench = new Workbench(t);
    bench.write('package.json', '{"scripts":{"start":"node app.cjs"}}');
    mkdirSync(`${bench.folder}/node_modules/reads`, { recursive: true });
    bench.write(
      'node_modules/reads/index.js',
      "exports.read = (name) => [1, 2, 3, 4].map(() => require('node:fs').readFileSync(name, 'utf8'));\n",
    );
    bench.write(
      'app.cjs',
      `const crypto = require('node:crypto');
const http = require('node:http');
const { read } = require('reads');
const items = Array.from({ length: 2000 }, (_, id) => ({ id, price: id / 3 }));
const pages = [];
pages.push({
  path: '/items',
  show() {
    const shown = items.map((item) => ({ id: item.id, price: item.price.toFixed(2) })).slice(0, 10);
    return { shown, text: read(__filename), hash: hash('x') };
  },
});
function hash(text) {
  return crypto.pbkdf2Sync(text, 'salt', 200, 32, 'sha1').toString('hex');
}
http.createServer((request, response) => {
  if (request.url === '/other') return response.end(crypto.scryptSync('x', 'y', 32).toString('hex'));
  if (request.method === 'POST') return store(request, response);
  const page = pages.find(({ path }) => path === request.url);
  response.statusCode = page ? 200 : 404;
  response.end(JSON.stringify(page ? page.show() : {}));
}).listen(process.env.PORT, process.env.HOST);
function store(request, response) {
  require('node:fs').writeFileSync('stored', 'x');
  response.end();
}
`,
    );
    const args = [
      'doctor',
      '/items',
      ...shortest,
      '--md',
      'r.md',
      '--',
      'env',
      'TERMS=a b',
      'npm',
      'start',
    ];
    const { code, stdout, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
    const { findings, measured, title } = JSON.parse(bench.read('r.json')) as DoctorResult;
    assert.equal(title, 'npm start, GET /items');
    assert.ok(measured!.requests > 0 && measured!.microsPerRequest > 0 && measured!.samples > 0);
    const find = (rule: string, line: number): DoctorResult['findings'][number] => {
      const found = findings.find((each) => each.rule === rule && each.line === line);
      assert.ok(found, `${rule}:${line} in ${stdout}`);
      return found;
    };
    for (const found of [find('sync-on-request', 14), find('map-before-slice', 9)]) {
      assert.ok(found.cost!.microsPerRequest > 0 && found.cost!.share <= 1);
      assert.equal(found.isOnMeasuredPath, true);
    }
    const inPackage = find('sync-under-load', 1);
    assert.equal(inPackage.file, 'node_modules/reads/index.js');
    assert.match(inPackage.why, /readFileSync was called in .* while requests were served/);
    const untouched = find('sync-on-request', 24);
    assert.deepEqual([untouched.cost, untouched.isOnMeasuredPath], [undefined, false]);
    assert.equal(findings.at(-1), untouched);
    const costs = findings.map(({ cost }) => cost?.microsPerRequest ?? 0);
    assert.deepEqual(
      costs,
      costs.toSorted((a, b) => b - a),
    );
    assert.match(stdout, /^GET \/items: [\d ]+ requests in [\d.]+ s/m);
    assert.match(stdout, /not on a measured path · certain$/m);
    assert.match(stdout, /^Next: redline try -- TERMS='a b' npm start$/m);
    assert.match(bench.read('r.md'), /\| not on a measured path \|/);
    assert.deepEqual(bench.survivors(), []);
  });

  test('lists what each cached route has read of requests, ahead of the cache and behind it', async (t) => {
    const bench = new Workbench(t);
    const at = (path: string): string => new URL(`../../../../${path}`, import.meta.url).href;
    bench.write('package.json', '{"type":"module","scripts":{"start":"node app.js"}}');
    bench.write(
      'app.js',
      `import { fastify } from '${at('node_modules/fastify/fastify.js')}';
import { JsonCache } from '${at('packages/response-cache/dist/index.js')}';
import { fastifyCache } from '${at('packages/response-cache/dist/adapters/fastify.js')}';
const app = fastify();
app.addHook('onRequest', async (request) => void request.headers['shop-id']);
await app.register(fastifyCache, { cache: new JsonCache() });
app.get('/items', { config: { cache: {} } }, async (request) => ({ of: request.headers['tenant-id'] ?? 1 }));
await app.listen({ port: process.env.PORT, host: '127.0.0.1' });
`,
    );
    const args = ['doctor', '/items', ...shortest, '--md', 'r.md', '--html', 'r.html'];
    const { code, stdout, stderr } = await bench.run([...args, '--', 'npm', 'start']);
    assert.equal(code, 0, stderr);
    const { measured } = JSON.parse(bench.read('r.json')) as DoctorResult;
    const reads = ['the header shop-id, ahead of the cache in app.js', 'the header tenant-id'];
    assert.deepEqual(
      measured!.cachedRoutes!.find(({ route }) => route === 'GET /items'),
      { route: 'GET /items', reads },
    );
    for (const text of [stdout, bench.read('r.md'), bench.read('r.html')])
      for (const each of reads) assert.ok(text.replaceAll(/\s+/g, ' ').includes(each), text);
  });

  test('knows the functions of code that was compiled without a map by their names', async (t) => {
    const bench = new Workbench(t);
    bench.write('package.json', '{"scripts":{"start":"node dist/main.js"}}');
    for (const folder of ['dist', 'src']) mkdirSync(`${bench.folder}/${folder}`);
    bench.write(
      'src/main.ts',
      `import { createServer } from 'node:http';
import { pbkdf2Sync } from 'node:crypto';

interface Answer {
  hash: string;
}

createServer((request, response) => {
  response.end(JSON.stringify(answerOf(String(request.url))));
}).listen(process.env.PORT);

function answerOf(url: string): Answer {
  return { hash: pbkdf2Sync(url, 'salt', 500, 32, 'sha1').toString('hex') };
}
`,
    );
    bench.write(
      'dist/main.js',
      `const { createServer } = require('node:http');
const { pbkdf2Sync } = require('node:crypto');
createServer((request, response) => {
    response.end(JSON.stringify(answerOf(String(request.url))));
}).listen(process.env.PORT);
function answerOf(url) {
    return { hash: pbkdf2Sync(url, 'salt', 500, 32, 'sha1').toString('hex') };
}
`,
    );
    const { code, stderr } = await bench.run(['doctor', '/', ...shortest, '--', 'npm', 'start']);
    assert.equal(code, 0, stderr);
    const { findings } = JSON.parse(bench.read('r.json')) as DoctorResult;
    const found = findings.find(({ rule }) => rule === 'sync-on-request');
    assert.equal(`${found!.file}:${found!.line}`, 'src/main.ts:13');
    assert.ok(found!.cost!.share > 0 && found!.isOnMeasuredPath === true);
  });

  test('names what keeps a server off the short way of @redline/http, and says what it means', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `const http = require('node:http');
const net = require('node:net');
const wrap = (target, name) => {
  const method = target[name];
  target[name] = function (...given) { return method.apply(this, given); };
};
if (process.argv[2] === 'firewall') {
  wrap(http.ServerResponse.prototype, 'end');
  wrap(http.ServerResponse.prototype, 'emit');
} else if (process.argv[2] === 'sniffer') wrap(net.Socket.prototype, 'write');
http.createServer((_, response) => response.end('body')).listen(process.env.PORT);
`,
    );
    const register = import.meta.resolve('@redline/http/register');
    const warnings = async (kind: string, ...flags: string[]): Promise<string> => {
      const command = ['--', 'node', ...flags, 'app.cjs', kind];
      const { code, stderr } = await bench.run(['doctor', '/', ...shortest, ...command]);
      assert.equal(code, 0, stderr);
      return (JSON.parse(bench.read('r.json')) as DoctorResult).warnings.join('\n');
    };
    const engine = `--import=${register}`;
    const firewall = await warnings('firewall', engine);
    assert.match(firewall, /http\.ServerResponse\.prototype\.emit was replaced.*emits its events/);
    assert.match(firewall, /http\.ServerResponse\.prototype\.end was replaced.*over a socket/);
    assert.match(
      await warnings('sniffer', engine),
      /Node's own server serves the requests: net\.Socket\.prototype\.write was replaced/,
    );
    assert.deepEqual([servingWarnings({ name: 'native' }), servingWarnings(undefined)], [[], []]);
  });

  test('says what is wrong with what was typed, or with the app', async (t) => {
    const bench = new Workbench(t);
    bench.write('ends.cjs', "console.error('no database')");
    const cases: [args: string[], message: RegExp, code: number][] = [
      [['app.cjs'], /No config at .*app\.cjs/, 2],
      [
        ['app', '--', 'node', 'a.js'],
        /"app" is neither a URL nor a path .*redline doctor -- app/,
        2,
      ],
      [['--', 'node', 'ends.cjs'], /did not start: it exited with exit code 0.*no database/s, 1],
      [
        ['--before', 'node -e "process.exit(3)"', '--', 'node', 'ends.cjs'],
        /ended with exit code 3/,
        1,
      ],
    ];
    for (const [args, message, expected] of cases) {
      const { code, stderr } = await bench.run(['doctor', ...args]);
      assert.match(stderr, message);
      assert.equal(code, expected, stderr);
      assert.deepEqual(bench.survivors(), []);
    }
  });

  test('proves nothing in a tree with changes that are not committed, and says so before it starts anything', async (t) => {
    const bench = new Workbench(t);
    const git = (...args: string[]): void => {
      const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
      execFileSync('git', [...who, ...args], { cwd: bench.folder, stdio: 'ignore' });
    };
    bench.write('package.json', '{}');
    bench.write('app.cjs', "require('node:fs').writeFileSync('started', '')");
    git('init');
    git('add', '.');
    git('commit', '-m', 'one');
    bench.write('app.cjs', "require('node:fs').writeFileSync('started', ''); // changed");
    const cases: [args: string[], message: RegExp][] = [
      [
        ['--prove', '--', 'node', 'app.cjs'],
        /app\.cjs changed since the last commit.*\(ERR_REDLINE_GIT\)/,
      ],
      [['--prove'], /--prove measures changes: give the command/],
      [['--fix'], /--fix measures changes: give the command/],
      [
        ['--test', 'npm test', '--', 'node', 'app.cjs'],
        /--test is for --prove, which is not given/,
      ],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await bench.run(['doctor', ...args]);
      assert.match(stderr, message);
      assert.equal(code, 2, stderr);
    }
    assert.equal(existsSync(`${bench.folder}/started`), false);
  });
});
