import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

const register = join(import.meta.dirname, '../src/register.ts');
const skip = engine().name === 'native' ? false : 'the native engine does not serve here';

/** Prints whether the functions are Node's own, whose source is behind Node's. */
const tell = (name: string, spawn: string) =>
  `console.log(${JSON.stringify(name)}, isOurs(${spawn}));`;
const isOurs = "globalThis.isOurs ??= (call) => !String(call).includes('normalizeSpawnArguments');";

const files: Record<string, string> = {
  'node_modules/common/index.js': `const { spawn } = require('child_process'); ${tell('a CommonJS dependency', 'spawn')}`,
  'node_modules/modern/package.json': '{"type":"module","exports":"./index.js"}',
  'node_modules/modern/index.js': `import { spawn } from 'node:child_process'; ${tell('an ESM dependency', 'spawn')}`,
  'early.mjs': `
    import { spawn } from 'node:child_process'; import childProcess from 'node:child_process';
    ${isOurs}
    setImmediate(() => { ${tell('a module loaded before', 'spawn')} ${tell('its default import', 'childProcess.spawn')} });`,
  'app.cjs': `
    ${isOurs}
    require('common');
    import('modern').then(() => {
      ${tell('the program', "require('node:child_process').spawn")}
      ${tell('getBuiltinModule', "process.getBuiltinModule('child_process').spawn")}
    });`,
  'every-call.cjs': `
    const cp = require('node:child_process');
    cp.exec('echo exec', (error, out) => console.log(out.trim()));
    cp.execFile('echo', ['execFile'], (error, out) => console.log(out.trim()));
    cp.spawn('echo', ['spawn'], { stdio: 'inherit' });
    console.log(cp.execSync('echo execSync').toString().trim());
    console.log(cp.execFileSync('echo', ['execFileSync']).toString().trim());
    console.log(cp.spawnSync('echo', ['spawnSync']).stdout.toString().trim());
    cp.fork(__dirname + '/messenger.cjs').on('message', (message) => console.log(message));
    require('node:util').promisify(cp.exec)('echo promised').then(({ stdout }) => console.log(stdout.trim()));
    for (const call of [() => cp.spawn(''), () => cp.spawn('x', { cwd: 1 }), () => cp.exec(1), () => cp.fork(1),
      () => cp.execFile('x', ['\\0'])]) {
      try { call() } catch (error) { console.log(error.code) }
    }`,
  'messenger.cjs': `
    const isOurs = !String(require('node:child_process').spawn).includes('normalizeSpawnArguments');
    process.send('fork, its child has the engine: ' + isOurs); process.disconnect();`,
  'thread.cjs': `
    ${isOurs}
    const { Worker, isMainThread } = require('node:worker_threads');
    if (isMainThread) new Worker(__filename);
    else {
      ${tell('a worker thread', "require('node:child_process').spawn")}
      require('node:child_process').execFile('echo', ['x'], (error, out) => console.log(out.trim()));
    }`,
  'cluster.cjs': `
    const cluster = require('node:cluster');
    if (cluster.isPrimary) {
      const worker = cluster.fork();
      worker.on('message', (message) => { console.log(message); worker.disconnect() });
      worker.on('exit', (code) => console.log('exit', code));
      // Whatever cluster has captured, its workers are children of the engine.
      console.log(Object.getOwnPropertyDescriptor(worker.process, 'pid').get ? 'of the engine' : 'of node');
    } else {
      const server = require('node:net').createServer().listen(0, () => process.send('listens'));
    }`,
  'passes.test.cjs': `
    ${isOurs}
    require('node:test').test('passes', (t) => {
      t.assert.ok(isOurs(require('node:child_process').spawn));
      t.assert.equal(require('node:child_process').execSync('echo x').toString(), 'x\\n');
    });`,
};

const addons = (home: string) => readdirSync(home).filter((name) => name.endsWith('.node'));

describe('@redline/child-process/register', { skip, timeout: 600_000 }, () => {
  let folder = '';
  const run = async (args: string[], env: NodeJS.ProcessEnv = {}) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', ...args], {
      cwd: folder,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
      timeout: 600_000,
    });
    return stdout.trim().split('\n').sort();
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'redline-register-'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const everywhere = [
    'a CommonJS dependency true',
    'an ESM dependency true',
    'getBuiltinModule true',
    'the program true',
  ];

  test('--import puts a program and its dependencies on the engine', async () => {
    assert.deepEqual(await run(['--import', register, 'app.cjs']), everywhere);
  });

  test('--require does', async () => {
    assert.deepEqual(await run(['--require', register, 'app.cjs']), everywhere);
  });

  test('NODE_OPTIONS does', async () => {
    assert.deepEqual(await run(['app.cjs'], { NODE_OPTIONS: `--import ${register}` }), everywhere);
  });

  test('modules that were loaded before see it as well', async () => {
    assert.deepEqual(await run(['--import', './early.mjs', '--import', register, 'app.cjs']), [
      ...everywhere.slice(0, 1),
      'a module loaded before true',
      ...everywhere.slice(1, 3),
      'its default import true',
      'the program true',
    ]);
  });

  test('REDLINE_CHILD_PROCESS=node switches it off', async () => {
    assert.deepEqual(
      await run(['--import', register, 'app.cjs'], { REDLINE_CHILD_PROCESS: 'node' }),
      everywhere.map((line) => line.replace('true', 'false')),
    );
  });

  test('every function works, and bad input is refused as before', async () => {
    const expected = await run(['every-call.cjs']);
    const actual = await run(['--import', register, 'every-call.cjs']);
    assert.deepEqual(
      actual,
      expected.map((line) => line.replace('the engine: false', 'the engine: true')),
    );
    assert.ok(expected.includes('ERR_INVALID_ARG_TYPE'));
  });

  test('a worker thread has it too', async () => {
    assert.deepEqual(await run(['--import', register, 'thread.cjs']), [
      'a worker thread true',
      'x',
    ]);
  });

  test('cluster starts its workers with it', async () => {
    assert.deepEqual(await run(['--import', register, 'cluster.cjs']), [
      'exit 0',
      'listens',
      'of the engine',
    ]);
  });

  test("Node's test runner and the files that it starts work with it", async () => {
    const lines = await run(['--import', register, '--test', 'passes.test.cjs']);
    assert.ok(
      lines.some((line) => line.endsWith('pass 1')),
      lines.join('\n'),
    );
  });

  test('two copies of the package do not call each other in circles', async () => {
    const home = join(import.meta.dirname, '..');
    const copy = join(folder, 'copy');
    for (const name of ['src', 'native.cjs', 'package.json', ...addons(home)]) {
      cpSync(join(home, name), join(copy, name), { recursive: true });
    }
    const second = join(copy, 'src/register.ts');
    assert.deepEqual(
      await run(['--import', register, '--import', second, 'every-call.cjs']),
      await run(['--import', register, 'every-call.cjs']),
    );
  });
});
