import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { HeapResult } from '../../src/heap/result.ts';
import { listeningPorts } from '../../src/heap/attach/process-facts.ts';
import { Workbench } from './run-cli.ts';

const apps = join(import.meta.dirname, '../../../../benchmarks/proofs/heap-apps');
const few = ['--rounds', '6', '--per-round', '60', '--warmup', '0', '--json', 'h.json'];

/** Copies the app, so places are those of the workbench. */
async function measure(
  bench: Workbench,
  app: string,
  ...more: string[]
): Promise<{ result: HeapResult; stdout: string; marked: string }> {
  const file = app.split('/').at(-1)!;
  const text = readFileSync(join(apps, app), 'utf8');
  bench.write(file, text);
  const url = 'http://127.0.0.1:28471/';
  const command = ['--', process.execPath, file];
  const { code, stdout, stderr } = await bench.run(['heap', url, ...few, ...more, ...command]);
  assert.equal(code, 0, stderr);
  const line = text.split('\n').findIndex((each) => each.includes('// leaks here')) + 1;
  return { result: JSON.parse(bench.read('h.json')), stdout, marked: `${file}:${line}:` };
}

const notLinux = process.platform !== 'linux';

/** An app that runs before the command, at a port of its own. */
async function running(
  bench: Workbench,
  t: TestContext,
): Promise<{ child: ChildProcess; port: number }> {
  const text = readFileSync(join(apps, 'leaks/listeners.cjs'), 'utf8')
    .replace('.listen(process.env.PORT, ', '.listen(0, ')
    .replace(/;\s*$/, ".on('listening', function () { console.log(this.address().port); });\n");
  bench.write('app.cjs', text);
  const child = spawn(process.execPath, ['app.cjs'], {
    cwd: bench.folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, port: Number(port) };
}

/** It serves, and its inspector is closed. */
async function assertAsItWas(child: ChildProcess, port: number): Promise<void> {
  assert.deepEqual(listeningPorts(child.pid!), [port]);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal(response.status, 200);
  assert.equal(child.exitCode, null);
}

describe('redline heap', () => {
  for (const app of ['async-context.mjs']) {
    test(`names the line that keeps what stays: ${app}`, async (t) => {
      const bench = new Workbench(t);
      const { result, stdout, marked } = await measure(bench, `leaks/${app}`);
      assert.equal(result.verdict, 'grows', JSON.stringify(result.growth));
      const [site] = result.sites;
      assert.ok(site!.place.startsWith(marked), `${site!.place} is not ${marked}`);
      assert.match(site!.line, /leaks here/);
      assert.ok(site!.path.length > 1);
      assert.match(stdout, /grows by [\d.]+ kB \[/);
      assert.ok(stdout.includes(site!.place));
      assert.deepEqual(bench.survivors(), []);
    });
  }

  test('names memory outside of the heap by the line that keeps it', async (t) => {
    const { result, marked } = await measure(new Workbench(t), 'leaks/buffers.cjs');
    assert.ok(result.sites[0]!.place.startsWith(marked), result.sites[0]!.place);
    assert.ok(result.growth.external.low > 4_000_000, JSON.stringify(result.growth.external));
  });

  test('names no line if nothing stays', async (t) => {
    const { result, stdout } = await measure(new Workbench(t), 'steady/latest.cjs');
    assert.equal(result.verdict, 'steady', JSON.stringify(result.sites));
    assert.deepEqual(result.sites, []);
    assert.match(stdout, /no growth within ± [\d.]+ kB per 1 000 requests/);
  });

  test('measures a running process and leaves it as it was', { skip: notLinux }, async (t) => {
    const bench = new Workbench(t);
    const { child, port } = await running(bench, t);
    const args = ['heap', `http://127.0.0.1:${port}/`, '--pid', String(child.pid), ...few];
    // Allocations of the first rounds, which come once, hide the slope of six.
    const { code, stderr } = await bench.run([...args, '--warmup', '120', '--rounds', '12']);
    assert.equal(code, 0, stderr);
    const result = JSON.parse(bench.read('h.json')) as HeapResult;
    assert.equal(result.verdict, 'grows', JSON.stringify(result.growth));
    assert.match(result.sites[0]!.place, /^app\.cjs:9:/);
    await assertAsItWas(child, port);
  });

  for (const moment of ['opening the inspector', 'round 1 of']) {
    test(
      `leaves the process as it was when it is interrupted at "${moment}"`,
      { skip: notLinux },
      async (t) => {
        const bench = new Workbench(t);
        const { child, port } = await running(bench, t);
        const url = `http://127.0.0.1:${port}/`;
        const rounds = ['--warmup', '0', '--rounds', '60'];
        const redline = bench.start(['heap', url, '--pid', String(child.pid), ...rounds]);
        const exited = once(redline, 'exit');
        for await (const line of createInterface(redline.stderr!)) {
          if (line.includes(moment)) redline.kill('SIGINT');
        }
        assert.deepEqual(await exited, [130, null]);
        await assertAsItWas(child, port);
      },
    );
  }

  test('refuses a process that is not Node or does not exist', { skip: notLinux }, async (t) => {
    const bench = new Workbench(t);
    const child = spawn('sleep', ['60']);
    t.after(() => child.kill('SIGKILL'));
    const url = 'http://127.0.0.1:1/';
    const other = await bench.run(['heap', url, '--pid', String(child.pid)]);
    assert.equal(other.code, 2, other.stderr);
    assert.match(other.stderr, /Process \d+ is \S*sleep\S*, not Node\. \(ERR_REDLINE_OPTION\)/);
    assert.equal(child.signalCode, null);
    const none = await bench.run(['heap', url, '--pid', '999999999']);
    assert.match(none.stderr, /Process 999999999 does not exist\./);
    const both = await bench.run(['heap', url, '--pid', '1', '--', 'node', 'x.js']);
    assert.match(both.stderr, /--pid 1 names a running process: give its URL and no command/);
  });

  test('refuses fewer rounds than a slope needs', async (t) => {
    const { code, stderr } = await new Workbench(t).run(['heap', '--rounds', '3']);
    assert.equal(code, 2);
    assert.match(stderr, /It takes a whole number, 6 or more\./);
  });
});
