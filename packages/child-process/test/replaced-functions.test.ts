import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const register = join(import.meta.dirname, '../src/register.ts');
const index = join(import.meta.dirname, '../src/index.ts');

/** Wraps every function of a module object, as tracers do, and prints which of them each call reaches. */
const wrapping = `
  const { promisify } = require('node:util');
  const names = ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'];
  globalThis.wrap = (cp) => {
    const seen = [];
    for (const name of names) {
      const original = cp[name];
      const wrapped = function (...args) {
        seen.push(name + ' ' + (this === cp) + ' ' + typeof args[0] + ' ' + args.length);
        return original.apply(this, args);
      };
      // A wrapper of the promised form, as that of dd-trace, is left out: it is the original's.
      const promised = original[promisify.custom];
      if (promised) Object.defineProperty(wrapped, promisify.custom, { value: promised });
      cp[name] = wrapped;
    }
    return { seen, then: (name, run) => new Promise((done) => run(done)).then(() => {
      console.log(name, JSON.stringify(seen.splice(0)));
    }) };
  };`;

const calls = `
  globalThis.callAll = async (cp, { then }) => {
    await then('exec', (done) => cp.exec('true', done));
    await then('exec with options', (done) => cp.exec('true', { env: process.env }, done));
    await then('promisify(exec)', (done) => promisify(cp.exec)('true').then(done));
    await then('execFile', (done) => cp.execFile('true', done));
    await then('promisify(execFile)', (done) => promisify(cp.execFile)('true').then(done));
    await then('spawn', (done) => cp.spawn('true').on('close', done));
    await then('fork', (done) => cp.fork('-e', [], { execArgv: ['-e', '0'], silent: true }).on('close', done));
    await then('spawnSync', (done) => done(cp.spawnSync('true')));
    await then('execSync', (done) => done(cp.execSync('true')));
    await then('execFileSync', (done) => done(cp.execFileSync('true')));
    cp.execFile = (file, options, callback) => callback(null, 'stubbed ' + options.shell);
    await then('a stub', (done) => cp.exec('echo', (error, out) => done(console.log(out))));
  };`;

const ofNode = `const cp = require('node:child_process');`;

function run(flags: string[], code: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', ...flags, '-e', code], {
    encoding: 'utf8',
  });
  assert.ok(stdout.includes('stubbed true'), stderr);
  return stdout;
}

describe('functions that a tool has replaced', { skip }, () => {
  const after = `${wrapping}${calls}${ofNode} callAll(cp, wrap(cp));`;
  const expected = run([], after);

  test('are called as by Node, where they were replaced after register', () => {
    assert.equal(run(['--import', register], after), expected);
    assert.equal(run(['--require', register], after), expected);
  });

  test('are called as by Node, where they were replaced before register', () => {
    const before = `${wrapping}${calls}${ofNode} const watch = wrap(cp);
      import(${JSON.stringify(register)}).then(() => callAll(cp, watch));`;
    assert.equal(run([], before), expected);
  });

  test("are called as by Node on the package's own default export", () => {
    const own = `${wrapping}${calls}
      import(${JSON.stringify(index)}).then(({ default: cp }) => callAll(cp, wrap(cp)));`;
    assert.equal(run([], own), expected);
  });

  test('are called by functions that were taken before they were replaced', () => {
    const taken = `${wrapping}${ofNode} const { exec } = cp; const { then } = wrap(cp);
      then('taken', (done) => exec('true', done)).then(() => console.log('stubbed true'));`;
    assert.equal(run(['--import', register], taken), run([], taken));
  });
});

describe('a child', { skip }, () => {
  test("has ChildProcess.prototype itself for its prototype, as Node's", () => {
    const code = `${ofNode}
      const children = [
        cp.spawn('true'), cp.exec('true'), cp.execFile('true'), cp.spawn('/nowhere').on('error', () => {}),
        cp.spawn('true', { stdio: ['ipc', 'ignore', 'ignore'] }), cp.spawn('true', { stdio: [process.stdin] }),
      ];
      for (const child of children) {
        console.log(child.constructor === cp.ChildProcess, Object.getPrototypeOf(child) === cp.ChildProcess.prototype,
          child instanceof cp.ChildProcess, Object.keys(child).sort().join(), 'countClose' in child, 'look' in child,
          require('node:util').inspect(child).includes('ChildProcess {'));
      }
      console.log('stubbed true');`;
    assert.equal(run(['--import', register], code), run([], code));
  });
});
