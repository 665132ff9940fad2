// Koa's own tests, whole, with every server of theirs on the engine.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { run as runTests } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '@redline/http';
import { installedCopy } from './installed-copy.ts';

/** There were 433 in 3.2.0. Far fewer have not run. */
const AT_LEAST = 400;

export async function run(folder: string, filter = ''): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`koa: skipped, ${serving.reason}`);
    return true;
  }
  const began = performance.now();
  await using copy = await installedCopy(join(folder, 'koa'), ['c8', 'snazzy', 'standard']);
  // One test is about the module that this makes.
  const build = ['node_modules/gen-esm-wrapper/gen-esm-wrapper.js', '.', './dist/koa.mjs'];
  await promisify(execFile)(process.execPath, build, { cwd: copy.folder });

  let passed = 0;
  let failed = 0;
  const events = runTests({
    cwd: copy.folder,
    globPatterns: [`__tests__/**/*${filter}*.test.js`],
    execArgv: ['--import', import.meta.resolve('@redline/http/register')],
    concurrency: 2,
  });
  events.on('test:pass', ({ details }) => {
    if (details.type !== 'suite') passed += 1;
  });
  events.on('test:fail', ({ name, file, details }) => {
    if (details.type === 'suite') return;
    failed += 1;
    console.log(`koa: ${file}: ${name}: ${details.error.cause}`);
  });
  for await (const _ of events) void _;

  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`koa: ${passed} pass, ${failed} fail, in ${seconds} s`);
  return failed === 0 && passed >= (filter === '' ? AT_LEAST : 1);
}
