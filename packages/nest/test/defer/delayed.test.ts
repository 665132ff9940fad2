import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { Controller, Get, Inject, Injectable, Scope } from '@nestjs/common';
import { AfterResponse } from '@redline/nest';
import { onBothFrameworks, startApp, until } from './harness.ts';

let runs: string[] = [];
let runAt = 0;

@Injectable()
class Reminders {
  @AfterResponse({ delayMs: 200 })
  soon(what: string): void {
    runs.push(`soon ${what}`);
  }

  @AfterResponse({ level: 'disk', runAt: (_what, at) => new Date(at) })
  at(what: string, at: number): void {
    runs.push(`at ${what} ${Date.now() >= at - 100}`);
  }
}

@Controller()
class Routes {
  readonly #reminders: Reminders;

  constructor(@Inject(Reminders) reminders: Reminders) {
    this.#reminders = reminders;
  }

  @Get('remind')
  remind(): object {
    this.#reminders.soon('a');
    this.#reminders.at('b', runAt);
    return {};
  }
}

onBothFrameworks('@AfterResponse with a delay', (framework) => {
  it('runs a call at its time, at every level', async (t) => {
    runs = [];
    runAt = Date.now() + 400;
    const app = await startApp(framework, [Routes], journalIn(temporaryFolder(t)), [Reminders]);
    t.after(() => app.stop());
    assert.equal((await fetch(`${app.url}/remind`)).status, 200);
    const queue = app.defer.deferrer.queues.get('methods')!;
    await until('both', () => runs.length === 2);
    assert.deepEqual(runs.toSorted(), ['at b true', 'soon a']);
    assert.equal(queue.delayed.jobs, 0);
  });

  it('has the next process run it', async (t) => {
    runs = [];
    runAt = Date.now() + 1_500;
    const options = journalIn(temporaryFolder(t));
    const first = await startApp(framework, [Routes], options, [Reminders]);
    assert.equal((await fetch(`${first.url}/remind`)).status, 200);
    // As at `process.exit()`.
    first.defer.deferrer.closeSync();
    await first.stop();
    const second = await startApp(framework, [Routes], options, [Reminders]);
    t.after(() => second.stop());
    await until('both', () => runs.length === 2);
    assert.deepEqual(runs.toSorted(), ['at b true', 'soon a']);
  });

  it('fails the request whose time is none', async (t) => {
    runAt = Number.NaN;
    const app = await startApp(framework, [Routes], journalIn(temporaryFolder(t)), [Reminders]);
    t.after(() => app.stop());
    assert.equal((await fetch(`${app.url}/remind`)).status, 500);
  });

  it('is an error at the start on a request-scoped class', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @AfterResponse({ delayMs: 1_000 })
      later(): void {}
    }
    await assert.rejects(startApp(framework, [], {}, [PerRequest]), {
      code: 'ERR_REDLINE_DEFER_METHOD_SCOPE',
      message: /with a delay, but its class is request-scoped/,
    });
  });
});

function journalIn(directory: string): { journal: { directory: string } } {
  return { journal: { directory } };
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-nest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
