import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { onBothFrameworks, until, type Framework } from './harness.ts';

const fixture = join(import.meta.dirname, 'fixture-end.js');

interface Life {
  readonly url: string;
  hasEnded(): boolean;
}

async function begin(
  t: TestContext,
  framework: Framework,
  [directory, done]: readonly [string, string],
  takesMs: number,
): Promise<Life> {
  const child = fork(fixture, [framework, directory, done, String(takesMs)], { silent: true });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(child, 'message')) as [string];
  return { url, hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

onBothFrameworks('@AfterResponse() at level memory, with a journal', (framework) => {
  for (const how of ['process.exit()', 'an uncaught error', 'SIGTERM']) {
    it(`loses no call that was answered when ${how} ends the process in the middle of requests`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'redline-nest-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const done = join(folder, 'done');
      const places = [join(folder, 'journal'), done] as const;
      // As long as a query: some run and some wait when the end comes.
      const first = await begin(t, framework, places, 50);
      const claimed: string[] = [];
      const ask = async (id: string): Promise<void> => {
        const response = await fetch(`${first.url}/note/${id}`);
        if (response.ok) claimed.push(id);
        await response.text();
      };
      const clients = Array.from({ length: 8 }, async (_, client) => {
        for (let n = 0; !first.hasEnded(); n++) await ask(`${client}-${n}`).catch(() => {});
      });
      await until('some replies', () => claimed.length >= 200);
      await fetch(`${first.url}/end/${encodeURIComponent(how)}`).catch(() => {});
      await Promise.all(clients);

      await begin(t, framework, places, 0);
      const lines = (): string[] =>
        existsSync(done) ? readFileSync(done, 'utf8').split('\n') : [];
      const missing = (): string[] => {
        const there = new Set(lines());
        return claimed.filter((id) => !there.has(id));
      };
      await until('the calls', () => missing().length === 0);
      assert.deepEqual(missing(), []);
    });
  }
});
