import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const index = new URL('../../src/index.ts', import.meta.url).href;
const program = `
import { createPool, spawn } from ${JSON.stringify(index)};
spawn('echo', ['spawned']).stdout.pipe(process.stdout);
try {
  createPool({ size: 1 });
  console.log('started');
} catch ({ name, code, message }) {
  console.log(name, code, message);
}
`;

/** What esbuild makes of a CommonJS module: a function in a scope that has only what the format of the bundle has. */
function bundling(scope: string): string {
  const hook = `
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/worker-file.cts')) return next(url, context);
    const code = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
    const source = ${JSON.stringify(scope)} + 'const exports = {};' + code + ';export default exports;';
    return { format: 'module', source, shortCircuit: true };
  },
});`;
  return `data:text/javascript,${encodeURIComponent(hook)}`;
}

describe('the package in a bundle', () => {
  const scopes = {
    'an ES module, which has no __filename': '',
    'CommonJS, whose __filename is the bundle': `const __filename = ${JSON.stringify(import.meta.filename)};`,
    'one that keeps relative paths': "const __filename = 'pool/worker-file.cjs';",
  };
  for (const [format, scope] of Object.entries(scopes)) {
    test(`of ${format}: spawns, and a pool says that it cannot find its workers`, async () => {
      const args = ['--no-warnings', '--import', bundling(scope), '--input-type=module'];
      const { stdout } = await run(process.execPath, [...args, '--eval', program]);
      assert.match(stdout, /^spawned$/m);
      assert.match(
        stdout,
        /^PoolError ERR_REDLINE_POOL_WORKER_FILE .*mark @redline\/child-process as external|^PoolError ERR_REDLINE_POOL_WORKER_FILE .* does not exist/m,
      );
    });
  }
});

test('register in a bundle in CommonJS, which has no import.meta.url, puts the engine in place', async () => {
  const hook = `
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/register-later.ts')) return next(url, context);
    const code = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
    return { format: 'module', source: code.replaceAll('import.meta', '({})'), shortCircuit: true };
  },
});`;
  const now = new URL('../../src/register-now.ts', import.meta.url).href;
  const code = `
import ${JSON.stringify(now)};
import { execFile } from 'node:child_process';
execFile('echo', ['spawned'], (error, stdout) => process.stdout.write(stdout));`;
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
  const args = ['--no-warnings', '--import', preload, '--input-type=module', '--eval', code];
  assert.equal((await run(process.execPath, args)).stdout, 'spawned\n');
});
