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
const register = fileURLToPath(import.meta.resolve('@redline/child-process/register'));
const skip = engine().name === 'native' ? false : 'the native engine does not serve here';

/** Each evaluates to node:child_process, got in its own way, or to a promise of it. */
const ways: Record<string, string> = {
  'require of node:child_process': "require('node:child_process')",
  'require of child_process': "require('child_process')",
  createRequire: "require('node:module').createRequire('/')('child_process')",
  'import()': "import('node:child_process')",
  getBuiltinModule: "process.getBuiltinModule('child_process')",
  'getBuiltinModule of node:child_process': "process.getBuiltinModule('node:child_process')",
  'a module that imports it': "import('./importer.mjs').then(({ childProcess }) => childProcess)",
  'a global of --eval': 'child_process',
};

const files: Record<string, string> = {
  'importer.mjs': "import childProcess from 'child_process'; export { childProcess };",
  'helpers.cjs': `
    globalThis.isLoaded = () => process.moduleLoadList.includes('NativeModule child_process');
    globalThis.isEngineLoaded = () =>
      process.getBuiltinModule('fs').readFileSync('/proc/self/maps', 'latin1').includes('.node\\n');
    globalThis.isNodes = (call) => String(call).includes('normalizeSpawnArguments(');`,
  'beside.mjs': `
    import { spawn } from 'node:child_process';
    import { spawn as ours, engine } from ${JSON.stringify(new URL(import.meta.resolve('@redline/child-process')).href)};
    import { childProcess } from './importer.mjs';
    const codes = [];
    for (const start of [spawn, ours, childProcess.spawn]) {
      codes.push(await new Promise((done) => start('sh', ['-c', 'exit 3']).on('close', done)));
      try { start(''); } catch (error) { codes.push(error.code); }
    }
    console.log(JSON.stringify([...codes, engine().name, isNodes(spawn), isNodes(childProcess.spawn)]));`,
  'many.cjs': `
    const { writeFileSync } = require('node:fs');
    const seen = [];
    for (let n = 0; n < 60; n++) {
      writeFileSync(__dirname + '/dependency-' + n + '.cjs', '');
      require('./dependency-' + n + '.cjs');
      seen.push(isLoaded());
    }
    const { spawn } = require('child_process');
    console.log(JSON.stringify([seen[0], seen.at(-1), isEngineLoaded(), isNodes(spawn)]));`,
};

describe('register waits', { skip }, () => {
  let folder = '';
  const output = async (args: readonly string[], cwd = folder): Promise<unknown> => {
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    const all = ['--require', join(folder, 'helpers.cjs'), ...args];
    const { stdout, stderr } = await run(process.execPath, all, { cwd, env });
    assert.equal(stderr, '');
    return JSON.parse(stdout);
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'redline-waits-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, way] of Object.entries(ways)) {
    test(`until somebody asks for node:child_process: ${name}`, async () => {
      const program = `
        const early = isLoaded();
        Promise.resolve((${way})).then((childProcess) => {
          childProcess = childProcess.default ?? childProcess;
          const seen = [early, isLoaded(), isEngineLoaded(), isNodes(childProcess.spawn)];
          const code = childProcess.spawnSync('sh', ['-c', 'exit 3']).status;
          const { getBuiltinModule } = process;
          seen.push(code, isEngineLoaded(), childProcess === getBuiltinModule('child_process'), getBuiltinModule.name);
          console.log(JSON.stringify(seen));
        });`;
      assert.deepEqual(await output(['--import', register, '--eval', program]), [
        false,
        true,
        false,
        false,
        3,
        true,
        true,
        'getBuiltinModule',
      ]);
    });
  }

  test('no longer than some forty modules, and the engine still is not loaded', async () => {
    const args = ['--import', register, 'many.cjs'];
    assert.deepEqual(await output(args), [false, true, false, false]);
  });

  test('and is there for an app that imports the package itself at the same time', async () => {
    const call = [3, 'ERR_INVALID_ARG_VALUE'];
    const expected = [...call, ...call, ...call, 'native', false, false];
    assert.deepEqual(await output(['--import', register, 'beside.mjs']), expected);
  });

  test('not at all on a Node that cannot require modules', async () => {
    const program = 'console.log(JSON.stringify([isNodes(child_process.spawn), isEngineLoaded()]))';
    const args = [
      '--no-experimental-require-module',
      '--import',
      '@redline/child-process/register',
      '--eval',
    ];
    assert.deepEqual(await output([...args, program], import.meta.dirname), [false, true]);
  });

  test('not at all under the permission model, whose checks are Node’s', async () => {
    const program = 'console.log(JSON.stringify([isNodes(child_process.spawn), isEngineLoaded()]))';
    const args = ['--permission', '--allow-fs-read=*', '--import', register, '--eval', program];
    assert.deepEqual(await output(args), [true, false]);
  });
});
