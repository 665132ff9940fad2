// node scripts/sanitize-addon.ts ADDON LIBASAN: starts children from the main thread and from workers, with an addon built
// for AddressSanitizer, while workers with SHARE_ENV change the environment. A finding ends it with a report and exit code
// 1.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [addon, library] = process.argv.slice(2) as [string, string];
const root = join(import.meta.dirname, '..');
const copy = mkdtempSync(join(tmpdir(), 'sanitize-addon-'));

const writer = `
  const { workerData } = require('node:worker_threads');
  for (;;) {
    for (let n = 0; n < 400; n++) process.env[workerData + n] = 'x'.repeat(n);
    for (let n = 0; n < 400; n++) delete process.env[workerData + n];
  }`;
const spawner = `
  import(process.env.REDLINE).then(async ({ engine, spawn, spawnSync, execFile }) => {
    if (engine().name !== 'native') throw new Error(engine().reason);
    const { parentPort } = require('node:worker_threads');
    let seen = 0;
    for (let round = 0; round < 30; round++) {
      await Promise.all(Array.from({ length: 4 }, () => new Promise((done) =>
        execFile('sh', ['-c', 'echo $REDLINE'], (error, text) => done(text.length > 1 && seen++)))));
      await new Promise((done) => spawn('true').on('close', (code) => done(code === 0 && seen++)));
      if (spawnSync('sh', ['-c', 'echo $REDLINE']).stdout.length > 1) seen++;
    }
    if (parentPort) parentPort.postMessage(seen);
    else globalThis.seen = seen;
    if (seen !== 180) throw new Error(seen + ' of 180 children');
  });`;
const program = `
  const { Worker, SHARE_ENV } = require('node:worker_threads');
  for (const name of ['A_', 'B_']) new Worker(${JSON.stringify(writer)}, { eval: true, env: SHARE_ENV, workerData: name });
  const workers = [0, 1].map(() => new Worker(${JSON.stringify(spawner)}, { eval: true, env: SHARE_ENV }));
  const ends = workers.map((worker) => new Promise((done) => worker.on('exit', done)));
  Promise.all(ends).then((codes) => {
    if (codes.some((code) => code !== 0)) process.exit(1);
    const timer = setInterval(() => globalThis.seen === 180 && process.exit(), 20);
  });
  ${spawner}`;

cpSync(join(root, 'packages/child-process'), copy, {
  recursive: true,
  filter: (path) => !/node_modules|\/(src|test)$|\.node$/.test(path),
});
copyFileSync(join(root, addon), join(copy, `child-process.linux-${process.arch}-gnu.node`));
const { status, signal, stderr } = spawnSync(process.execPath, ['--no-warnings', '-e', program], {
  encoding: 'utf8',
  env: {
    ...process.env,
    LD_PRELOAD: library,
    REDLINE: join(copy, 'dist/index.js'),
    // Leaks are not checked: V8 keeps its memory until the process ends, and Node exits without freeing it.
    ASAN_OPTIONS: 'detect_leaks=0:verify_asan_link_order=0:exitcode=1',
  },
});
rmSync(copy, { recursive: true });
if (status !== 0) {
  process.stderr.write(
    `${stderr}\nThe addon under AddressSanitizer: ${signal ?? `exit code ${status}`}\n`,
  );
  process.exit(1);
}
process.stdout.write(
  'The addon under AddressSanitizer, beside workers with SHARE_ENV: 540 children, nothing found.\n',
);
