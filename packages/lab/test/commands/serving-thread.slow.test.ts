import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { DeoptsResult } from '../../src/deopts/result.ts';
import type { DoctorResult } from '../../src/doctor/result.ts';
import type { FlameResult } from '../../src/flame/result.ts';
import { Workbench } from './run-cli.ts';

const skip =
  process.platform === 'linux' ? false : 'only Linux says which thread used how much CPU';

const step = 'sum = (sum * 31 + i) % 1_000_003;';

/** A function with the work of a request in it, too long for V8 to inline: inlined, its time would be its caller's. */
function busyInside(parameters: string, reply: string): string {
  return `function busyInside(${parameters}) {
  let sum = 0;
  for (let i = 0; i < 10_000; i++) { ${step.repeat(100)} }
  ${reply};
}`;
}

const server = `http.createServer(${busyInside('request, response', 'response.end(String(sum))')})
  .listen(process.env.PORT, process.env.HOST);
`;

/** Each app does the work of a request in another place than the main thread of the process that was started. */
const apps = {
  'a cluster': {
    'app.cjs': `const cluster = require('node:cluster');
const http = require('node:http');
if (cluster.isPrimary) for (let i = 0; i < 2; i++) cluster.fork();
else ${server}`,
  },
  'a program that was spawned': {
    'app.cjs': `const { spawn } = require('node:child_process');
spawn(process.execPath, ['server.cjs'], { stdio: 'ignore', cwd: __dirname });
`,
    'server.cjs': `const http = require('node:http');
${server}`,
  },
  'a worker thread': {
    'app.cjs': `const http = require('node:http');
const { Worker } = require('node:worker_threads');
const worker = new Worker(require.resolve('./crunch.cjs'));
const waiting = [];
worker.on('message', (sum) => waiting.shift().end(String(sum)));
http.createServer((request, response) => {
  waiting.push(response);
  worker.postMessage('');
}).listen(process.env.PORT, process.env.HOST);
`,
    'crunch.cjs': `const { parentPort } = require('node:worker_threads');
parentPort.on('message', ${busyInside('', 'parentPort.postMessage(sum)')});
`,
  },
} as const;

const expected = {
  'a cluster': ['process', 3],
  'a program that was spawned': ['process', 2],
  'a worker thread': ['worker thread', 1],
} as const;

function benchWith(t: TestContext, files: Readonly<Record<string, string>>): Workbench {
  const bench = new Workbench(t);
  for (const [name, text] of Object.entries(files)) bench.write(name, text);
  bench.writeConfig({ variants: [{ name: 'app', command: [process.execPath, 'app.cjs'] }] });
  return bench;
}

for (const app of Object.keys(apps) as (keyof typeof apps)[]) {
  const [kind, processes] = expected[app];
  describe(`the work of ${app} is profiled`, { skip }, () => {
    const short = ['--seconds', '1', '--warmup', '0.5', '--json', 'r.json'];

    test('by redline flame, which says whose it is', async (t) => {
      const bench = benchWith(t, apps[app]);
      const { code, stdout, stderr } = await bench.run(['flame', ...short]);
      assert.equal(code, 0, stderr);
      const result = JSON.parse(bench.read('r.json')) as FlameResult;
      const [busiest] = result.functions.toSorted((a, b) => b.self - a.self);
      assert.equal(busiest?.name, 'busyInside', stdout);
      assert.deepEqual([result.profiled?.kind, result.profiled?.processes], [kind, processes]);
      assert.ok(result.profiled!.share > 0.2 && result.profiled!.share <= 1, stdout);
      assert.match(stdout, new RegExp(`profiled: (a )?${kind}`));
      // Tiers are those of its own isolate; a program that was spawned has no flags.
      const { maglev = 0, turbofan = 0 } = busiest!.tiers;
      assert.equal(maglev + turbofan > busiest!.self / 2, app !== 'a program that was spawned');
      assert.deepEqual(bench.survivors(), []);
    });

    test('by redline deopts', async (t) => {
      const bench = benchWith(t, apps[app]);
      const { code, stdout, stderr } = await bench.run(['deopts', ...short, '--all']);
      assert.equal(code, 0, stderr);
      const { profiled } = JSON.parse(bench.read('r.json')) as DeoptsResult;
      assert.equal(profiled?.kind, kind, stdout);
      assert.match(stdout, new RegExp(`of (a )?${kind}`));
    });

    test('by redline doctor', async (t) => {
      const bench = benchWith(t, apps[app]);
      const command = ['--yes', '--', process.execPath, 'app.cjs'];
      const { code, stdout, stderr } = await bench.run(['doctor', '/', ...short, ...command]);
      assert.equal(code, 0, stderr);
      const { findings, measured } = JSON.parse(bench.read('r.json')) as DoctorResult;
      assert.equal(findings[0]?.rule, 'hot-function', stdout);
      assert.match(findings[0].why, /^busyInside has \d+\D% of the time/);
      // A process that only started another is not one of several.
      if (app !== 'a program that was spawned') assert.equal(measured?.profiled?.kind, kind);
    });
  });
}

test('redline doctor goes on where a worker thread is blocked and responds to nothing', async (t) => {
  const bench = benchWith(t, {
    'app.cjs': `const http = require('node:http');
const { Worker } = require('node:worker_threads');
new Worker(require.resolve('./idle.cjs')).once('message', () => {
  ${server}});
`,
    // As piscina has its threads wait for a task.
    'idle.cjs': `const { parentPort } = require('node:worker_threads');
setTimeout(() => {
  parentPort.postMessage('idle');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}, 100);
`,
  });
  const measured = ['--seconds', '1', '--warmup', '0', '--json', 'r.json'];
  const command = ['--yes', '--', process.execPath, 'app.cjs'];
  const { code, stderr } = await bench.run(['doctor', '/', ...measured, ...command]);
  assert.equal(code, 0, stderr);
  const { findings, warnings } = JSON.parse(bench.read('r.json')) as DoctorResult;
  assert.match(findings[0]!.why, /^busyInside has /);
  assert.ok(warnings.some((text) => text.startsWith('1 thread of the app did not respond')));
});
