import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

const run = promisify(execFile);
const register = fileURLToPath(import.meta.resolve('@redline/http/register'));
const skip = engine().name === 'native' ? false : 'the native engine does not serve here';

/** For every program: what of node:http and of the engine this process has loaded. */
const helpers = `
  globalThis.isHttpLoaded = () => process.moduleLoadList.includes('NativeModule http');
  globalThis.isEngineLoaded = () =>
    process.getBuiltinModule('fs').readFileSync('/proc/self/maps', 'latin1').includes('.node\\n');
  globalThis.isNodes = (call) => String(call).includes('new Server(');`;

/** Each evaluates to node:http, got in its own way, or to a promise of it. */
const ways: Record<string, string> = {
  'require of node:http': "require('node:http')",
  'require of http': "require('http')",
  createRequire: "require('node:module').createRequire('/')('http')",
  'import()': "import('node:http')",
  'getBuiltinModule of http': "process.getBuiltinModule('http')",
  'getBuiltinModule of node:http': "process.getBuiltinModule('node:http')",
  'an entry of "imports"': "import('#http')",
  'a module that imports it': "import('./importer.mjs').then(({ http }) => http)",
  'a hook of somebody else': `require('node:module').registerHooks({
    resolve: (name, context, next) => next(name === 'renamed' ? 'http' : name, context),
  }), require('renamed')`,
  'a global of --eval': 'http',
};

const files: Record<string, string> = {
  'package.json': '{ "imports": { "#http": "http" } }',
  'importer.mjs': "import http from 'http'; export { http };",
  'helpers.cjs': helpers,
  'imported.mjs': `
    import { createServer, Server } from 'node:http';
    console.log(JSON.stringify([isNodes(createServer), new Server() instanceof Server, isEngineLoaded()]));`,
  'many.cjs': `
    const { writeFileSync } = require('node:fs');
    const seen = [];
    for (let n = 0; n < 60; n++) {
      writeFileSync(__dirname + '/dependency-' + n + '.cjs', '');
      require('./dependency-' + n + '.cjs');
      seen.push(isHttpLoaded());
    }
    const { createServer } = require('http');
    console.log(JSON.stringify([seen[0], seen.at(-1), isEngineLoaded(), isNodes(createServer)]));`,
  'beside.mjs': `
    import { createServer, Server } from 'node:http';
    import { engine } from ${JSON.stringify(new URL(import.meta.resolve('@redline/http')).href)};
    import './importer.mjs';
    const servers = [createServer(), new Server()];
    for (const server of servers) await new Promise((done) => server.listen(0, '127.0.0.1', done));
    console.log(JSON.stringify(servers.map((server) => engine(server).name)));
    for (const server of servers) server.close();`,
  'cluster.cjs': `
    const cluster = require('node:cluster');
    if (cluster.isPrimary) cluster.fork().on('message', (message) => console.log(JSON.stringify(message)));
    else {
      const early = isHttpLoaded();
      const server = require('http').createServer(({ socket }, response) => response.end(socket.constructor.name));
      server.listen(0, '127.0.0.1', async () => {
        const response = await fetch('http://127.0.0.1:' + server.address().port);
        process.send([early, await response.text()], () => process.exit());
      });
    }`,
};

describe('register waits', { skip }, () => {
  let folder = '';
  const output = async (args: readonly string[]): Promise<unknown> => {
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    const all = ['--require', './helpers.cjs', ...args];
    const { stdout, stderr } = await run(process.execPath, all, { cwd: folder, env });
    assert.equal(stderr, '');
    return JSON.parse(stdout);
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'redline-waits-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, way] of Object.entries(ways)) {
    test(`until somebody asks for node:http: ${name}`, async () => {
      const program = `
        const early = isHttpLoaded();
        Promise.resolve((${way})).then((http) => {
          http = http.default ?? http;
          const seen = [early, isHttpLoaded(), isNodes(http.createServer), http.createServer() instanceof http.Server];
          const { getBuiltinModule } = process;
          seen.push(isEngineLoaded(), http === process.getBuiltinModule('http'), getBuiltinModule.name);
          console.log(JSON.stringify(seen));
        });`;
      const args = ['--import', register, '--eval', program];
      assert.deepEqual(await output(args), [
        false,
        true,
        false,
        true,
        true,
        true,
        'getBuiltinModule',
      ]);
    });
  }

  test('for nothing where node:http is loaded already', async () => {
    const args = ['--require', 'node:http', '--import', register, '--eval'];
    const program = 'console.log(JSON.stringify([isNodes(http.createServer), isEngineLoaded()]))';
    assert.deepEqual(await output([...args, program]), [false, false]);
  });

  test('no longer than some forty modules, and the engine still is not loaded', async () => {
    const args = ['--import', register, 'many.cjs'];
    assert.deepEqual(await output(args), [false, true, false, false]);
  });

  test('and names that are imported are the engine’s', async () => {
    assert.deepEqual(await output(['--import', register, 'imported.mjs']), [false, true, true]);
  });

  test('and is there for an app that imports the package itself at the same time', async () => {
    const args = ['--import', register, 'beside.mjs'];
    assert.deepEqual(await output(args), ['native', 'native']);
  });

  test('in a worker of node:cluster, too', async () => {
    const args = ['--import', register, 'cluster.cjs'];
    assert.deepEqual(await output(args), [false, 'ConnectionSocket']);
  });

  test('not at all on a Node that cannot require modules', async () => {
    // Which file that is, `exports` says.
    const program =
      'console.log(JSON.stringify([isNodes(http.createServer), isEngineLoaded(), http.Server.name]))';
    const args = [
      '--no-experimental-require-module',
      '--import',
      '@redline/http/register',
      '--eval',
      program,
    ];
    const { stdout } = await run(
      process.execPath,
      ['--require', `${folder}/helpers.cjs`, ...args],
      {
        cwd: import.meta.dirname,
      },
    );
    assert.deepEqual(JSON.parse(stdout), [false, true, 'Server']);
    // Its file by path: what comes later is imported.
    const late = `(function wait() { if (!isEngineLoaded()) return setTimeout(wait, 20); ${program} })()`;
    const byPath = ['--no-experimental-require-module', '--import', register, '--eval', late];
    assert.deepEqual(await output(byPath), [false, true, 'Server']);
  });

  test('and leaves resolving, its errors and the stack of modules as they are', async () => {
    const program = `
      const errors = [];
      for (const name of ['no-such-module', './no-such-file', 'node:nothing', '']) {
        try { require(name); } catch (error) { errors.push([error.code, error.message, error.requireStack]); }
      }
      import('no-such-module').catch((error) => {
        errors.push([error.code, error.message]);
        errors.push(require.resolve('http'), typeof process.getBuiltinModule('nothing'));
        console.log(JSON.stringify(errors));
      });`;
    const args = ['--eval', program];
    assert.deepEqual(await output(['--import', register, ...args]), await output(args));
  });
});
