import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = `
import { runThreads } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
const threads = runThreads(2, new URL('data:text/javascript,'));
threads.started.catch(({ code, message }) => console.log(code, message));
threads.once('stopped', () => console.log('stopped'));
`;

/** Puts code in front of the module that looks for the program of the threads, and gives it another `import.meta`. */
function bundling(scope: string, meta: string): string {
  const hook = `
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/find-thread-main.ts')) return next(url, context);
    const code = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
    const source = ${JSON.stringify(scope)} + code.replaceAll('import.meta', ${JSON.stringify(meta)});
    return { format: 'module', source, shortCircuit: true };
  },
});`;
  return `data:text/javascript,${encodeURIComponent(hook)}`;
}

describe('runThreads says that it cannot find its program in a bundle', () => {
  const scopes = {
    'that is an ES module': ['', "({ url: 'file:///app/bundle.mjs' })"],
    'in CommonJS, without an import.meta': ['', '({})'],
    'of webpack or Rspack, which keep the path on the machine that made it': [
      'const __webpack_require__ = () => {};',
      'import.meta',
    ],
  } as const;
  for (const [bundle, [scope, meta]] of Object.entries(scopes)) {
    test(bundle, async () => {
      const args = ['--no-warnings', '--import', bundling(scope, meta), '--input-type=module'];
      const { stdout } = await run(process.execPath, [...args, '--eval', program]);
      assert.deepEqual(stdout.trim().split('\n').toSorted(), [
        'ERR_REDLINE_HTTP_THREAD_NOT_STARTED Thread 0 did not start data:text/javascript,: this bundle cannot start threads; mark @redline/http as external',
        'stopped',
      ]);
    });
  }
});
