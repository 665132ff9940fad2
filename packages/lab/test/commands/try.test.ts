import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { Workbench } from './run-cli.ts';

const { resolve } = createRequire(import.meta.url);
const needsEngine = process.platform === 'linux' ? false : 'the engine is for Linux';
/** The least measuring there is. */
const shortest = ['--restarts', '1', '--connections', '4', '--json', 'r.json'];

function resultOf(bench: Workbench): TryResult {
  return JSON.parse(bench.read('r.json')) as TryResult;
}

describe('redline try', { skip: needsEngine }, () => {
  test('finds the port and the route of npm start beside a copy that runs already, and says how to keep it', async (t) => {
    const running = createServer((request, response) => response.end('another')).listen(0);
    t.after(() => running.close());
    const { port } = running.address() as AddressInfo;
    const bench = new Workbench(t);
    bench.write(
      'package.json',
      '{"scripts":{"start":"node app.cjs"},"dependencies":{"express":"5"}}',
    );
    bench.write(
      'app.cjs',
      `const app = require(${JSON.stringify(resolve('express'))})();
      app.get('/feed', (request, response) => response.json({ path: request.path, list: Array(90).fill('item') }));
      app.get('/health', (request, response) => response.end('ok'));
      app.listen(${port});`,
    );
    const { code, stdout, stderr } = await bench.run([
      'try',
      ...shortest,
      '--md',
      'r.md',
      '--',
      'npm',
      'start',
    ]);
    assert.equal(code, 0, stderr);
    const { app: tried, keep, bench: measured, packages, compared, title } = resultOf(bench);
    assert.equal(title, 'npm start, GET /feed');
    assert.deepEqual([tried.framework, tried.port, compared], ['Express', port, 'body']);
    assert.deepEqual(
      packages.map(({ name }) => name),
      ['@redline/http'],
    );
    assert.deepEqual(keep, [
      'npm install @redline/http',
      'package.json: "start": "node --import @redline/http/register app.cjs"',
    ]);
    assert.deepEqual(
      measured.variants.map(({ name }) => name),
      ['as it is', 'with redline'],
    );
    assert.match(stdout, /^TRY {3}npm start, GET \/feed/m);
    assert.match(stdout, /^requests\/s .*(\n +)?\[/m);
    assert.match(bench.read('r.md'), /^### npm start, GET \/feed/);
    assert.deepEqual(bench.survivors(), []);
  });
});

describe('redline try, when it cannot,', () => {
  test('says what is wrong with what was typed, and exits with 2', async (t) => {
    const bench = new Workbench(t);
    bench.write('x.log', '{}');
    const cases: [args: string[], message: RegExp][] = [
      [
        ['try'],
        /has no package\.json: give the command that starts the app, redline try -- node server\.js/,
      ],
      [
        ['try', 'node', 'app.js'],
        /What starts the app comes after --: redline try -- node app\.js/,
      ],
      [['try', '--cwd', 'gone', '--', 'node', 'a.js'], /--cwd "gone" does not exist/],
      [['try', 'app', '--', 'node', 'a.js'], /"app" is neither a URL nor a path/],
      [
        ['try', '/a', '--log', 'x.log', '--', 'node', 'a.js'],
        /--log chooses the requests, and so does a request/,
      ],
      [
        ['try', 'http://127.0.0.1:1/', 'http://127.0.0.1:2/', '--', 'node', 'a.js'],
        /several ports \(1, 2\)/,
      ],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await bench.run(args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.match(stderr, /\(ERR_REDLINE_OPTION\)\n$/);
    }
  });

  test(
    'says why it is not for the app: no HTTP server, TLS, no route that answers, a command that fails',
    {
      skip: needsEngine,
    },
    async (t) => {
      const bench = new Workbench(t);
      bench.write('ends.cjs', "console.error('no database')");
      bench.write('tls.cjs', "require('node:https').createServer({}).listen(process.env.PORT)");
      bench.write(
        'none.cjs',
        "require('node:http').createServer((q, s) => s.writeHead(401).end()).listen(process.env.PORT)",
      );
      bench.write(
        'limits.cjs',
        "let n = 0; require('node:http').createServer((q, s) => ++n > 100 ? s.writeHead(429, { 'retry-after': '60' }).end() : s.end()).listen(process.env.PORT)",
      );
      bench.write('h2.cjs', "require('node:http2').createServer().listen(process.env.PORT)");
      const request = { req: { method: 'GET', url: '/a' }, res: { statusCode: 200 } };
      bench.write('access.log', JSON.stringify(request));
      const cases: [args: string[], message: RegExp][] = [
        [
          ['--', 'node', 'ends.cjs'],
          /"as it is" did not start: it exited with exit code 0.*no database/s,
        ],
        [['--', 'no-such-program'], /did not start: it exited \(no-such-program was not found\)/],
        [['--', 'node', 'tls.cjs'], /Not for you: the app terminates TLS itself/],
        [
          ['--', 'node', 'limits.cjs'],
          /GET \/ answers, after \d+ requests in a row, with 429, Retry-After 60: a rate limiter; switch it off/,
        ],
        [['--', 'node', 'h2.cjs'], /Not for you: the app speaks HTTP\/2/],
        [
          ['--log', 'access.log', '--', 'node', 'none.cjs'],
          /GET \/a with status 401\. Send what it asks for: -H 'authorization: …'/,
        ],
        [
          ['--', 'node', 'none.cjs'],
          /No route was found .*GET \/ answers 401.*\(ERR_REDLINE_TRY\)/,
        ],
        [
          ['--before', 'node -e "console.log(1),process.exit(3)"', '--', 'node', 'none.cjs'],
          /--before "node -e .*" ended with exit code 3.*\(ERR_REDLINE_COMMAND\)\n {2}1\n$/s,
        ],
      ];
      for (const [args, message] of cases) {
        const { code, stderr } = await bench.run(['try', ...args]);
        assert.equal(code, 1, stderr);
        assert.match(stderr, message);
        assert.deepEqual(bench.survivors(), []);
      }
    },
  );
});

describe(
  'redline try and doctor, in an app that nobody has described,',
  { skip: needsEngine },
  () => {
    test('call nothing that looks like an action, and nothing with --dry-run', async (t) => {
      const bench = new Workbench(t);
      bench.write('calls.log', '');
      bench.write(
        'app.cjs',
        `const { appendFileSync } = require('node:fs');
      const app = require(${JSON.stringify(resolve('express'))})();
      app.use((request, response, next) => (appendFileSync('calls.log', request.path + '\\n'), next()));
      for (const path of ['/', '/items', '/logout', '/reset', '/admin/delete-all', '/users/:id/remove', '/users/:id', '/shutdown']) {
        app.get(path, (request, response) => response.json([path]));
      }
      app.listen(process.env.PORT);`,
      );
      const command = ['--', 'node', 'app.cjs'];
      for (const name of ['try', 'doctor']) {
        const { code, stderr } = await bench.run([name, '--dry-run', ...command]);
        assert.equal(code, 0, stderr);
        assert.match(stderr, /Requests GET \/ \/items: .*actions:\s+\/logout\s+\/reset/s);
        assert.equal(bench.read('calls.log'), '');
      }
      const short = ['--seconds', '1', '--warmup', '0', '--connections', '2'];
      for (const args of [
        ['try', ...shortest],
        ['doctor', ...short],
      ]) {
        const { code, stderr } = await bench.run([...args, ...command]);
        assert.equal(code, 0, stderr);
        const called = new Set(bench.read('calls.log').trim().split('\n'));
        assert.deepEqual([...called].toSorted(), ['/', '/items']);
      }
      assert.deepEqual(bench.survivors(), []);
    });
  },
);

test('redline try sees routes that an app adds once it listens', async (t) => {
  const bench = new Workbench(t);
  bench.write(
    'app.cjs',
    `const app = require(${JSON.stringify(resolve('express'))})();
    app.listen(process.env.PORT, () => {
      setTimeout(() => app.get('/late', (request, response) => response.end()), 100);
    });`,
  );
  const { stderr } = await bench.run(['try', '--dry-run', '--', 'node', 'app.cjs']);
  assert.match(stderr, /^Requests GET \/late \/: /m);
});

describe('redline without a word', () => {
  test('says in about ten lines where to begin in a project, and elsewhere what there is', async (t) => {
    const bench = new Workbench(t);
    const outside = await bench.run([]);
    assert.match(outside.stderr + outside.stdout, /^Usage: redline/);
    bench.write(
      'package.json',
      '{"name":"orders","scripts":{"start":"node ."},"dependencies":{"koa":"3"}}',
    );
    bench.write('access.log', '');
    const { code, stdout } = await bench.run([]);
    assert.equal(code, 0);
    assert.match(stdout, /^Where to begin in orders \(Koa, started by npm start\):/);
    assert.match(stdout, /^ {2}redline try -- npm start {2,}\S/m);
    assert.match(stdout, /^ {2}redline top access\.log {2,}\S/m);
    assert.ok(stdout.split('\n').length <= 12, stdout);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
    );
    const { stdout: help } = await bench.run(['--help']);
    for (const [, command] of stdout.matchAll(/^ {2}redline (\w+)/gm)) {
      assert.match(help, new RegExp(`^  ${command} `, 'm'));
    }
  });

  test('names the workspaces of a monorepo', async (t) => {
    const bench = new Workbench(t);
    bench.write('package.json', `{"workspaces":["api"]}`);
    const { mkdirSync } = await import('node:fs');
    mkdirSync(`${bench.folder}/api`);
    bench.write('api/package.json', '{"scripts":{"start":"node ."}}');
    const { stdout } = await bench.run([]);
    assert.match(stdout, /redline try --cwd api {2,}/);
  });
});
