import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, it } from 'node:test';
import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  Inject,
  Injectable,
  Post,
  Res,
  Scope,
  Sse,
  UseGuards,
  type CanActivate,
  type MessageEvent,
} from '@nestjs/common';
import { createDefer, defer, defineJob } from '@redline/defer';
import { AfterResponse, deferModuleErrorDocs, DeferService } from '@redline/nest';
import { of, type Observable } from 'rxjs';
import { onBothFrameworks, Received, startApp, until, type TestApp } from './harness.ts';

interface RawResponse {
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
}

const log: string[] = [];
let response: RawResponse | undefined;
const job = defineJob<{ n: number }>('job');

@Injectable()
class Audit {
  @AfterResponse()
  async note(what: string): Promise<void> {
    log.push(`note ${what} ${response?.writableFinished}`);
  }

  @AfterResponse({ when: 'success' })
  ifWell(what: string): void {
    log.push(`well ${what}`);
  }

  @AfterResponse({ when: 'aborted' })
  ifGone(what: string): void {
    log.push(`gone ${what}`);
  }

  @AfterResponse({ level: 'disk', when: 'success' })
  keep(entry: { n: number }): void {
    log.push(`keep ${entry.n} ${this instanceof Audit}`);
  }
}

@Injectable()
class Refuse implements CanActivate {
  @Inject(Audit) private readonly audit!: Audit;

  canActivate(): boolean {
    this.audit.note('refused');
    throw new ForbiddenException();
  }
}

@Controller()
class Routes {
  @Inject(Audit) private readonly audit!: Audit;
  @Inject(DeferService) private readonly deferred!: DeferService;

  @Get('well')
  well(@Res({ passthrough: true }) reply: { raw?: RawResponse } & RawResponse): object {
    response = reply.raw ?? reply;
    this.audit.note('well');
    this.audit.ifWell('well');
    this.audit.ifGone('well');
    log.push('handler');
    return { ok: true };
  }

  @Get('throws')
  async throws(): Promise<void> {
    await Promise.resolve();
    this.audit.note('throws');
    this.audit.ifWell('throws');
    throw new Error('as it is meant to');
  }

  @Get('refused')
  @UseGuards(Refuse)
  refused(): void {}

  @Get('kept')
  kept(): object {
    this.audit.keep({ n: 7 });
    return {};
  }

  @Post('body')
  async body(@Body() { n }: { n: number }): Promise<object> {
    await new Promise((resolve) => setImmediate(resolve));
    defer(job, { n }, { level: 'process' });
    this.deferred.after(() => log.push(`after ${n}`));
    return {};
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    this.audit.note('events');
    return of({ data: 'one' }, { data: 'two' }, { data: 'three' });
  }

  @Get('hangs')
  hangs(): Promise<never> {
    this.audit.ifGone('hangs');
    this.audit.ifWell('hangs');
    return new Promise(() => {});
  }
}

onBothFrameworks('@AfterResponse', (framework) => {
  let app: TestApp;
  const received = new Received();
  const directory = mkdtempSync(join(tmpdir(), 'redline-nest-defer-'));

  before(async () => {
    const options = { sinks: { received }, journal: { directory } };
    app = await startApp(framework, [Routes], options, [Audit, Refuse]);
  });
  after(async () => {
    await app.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    log.length = 0;
    response = undefined;
  });

  it('runs the method when the reply is gone', async () => {
    const reply = await fetch(`${app.url}/well`);
    assert.deepEqual(await reply.json(), { ok: true });
    await until('both', () => log.length === 3);
    assert.deepEqual(log, ['handler', 'note well true', 'well well']);
  });

  it('runs it for a handler that throws, and one for success not', async () => {
    assert.equal((await fetch(`${app.url}/throws`)).status, 500);
    await fetch(`${app.url}/well`);
    await until('the next request', () => log.includes('well well'));
    assert.ok(log.includes('note throws undefined'));
    assert.ok(!log.includes('well throws'));
  });

  it('runs it for a request that a guard refuses', async () => {
    assert.equal((await fetch(`${app.url}/refused`)).status, 403);
    await until('the note', () => log.includes('note refused undefined'));
  });

  it('runs it once for a stream of events', async () => {
    assert.match(await (await fetch(`${app.url}/events`)).text(), /three/);
    await until('the note', () => log.length > 0);
    assert.deepEqual(log, ['note events undefined']);
  });

  it('runs what is meant for a client that goes away', async () => {
    const call = request(`${app.url}/hangs`);
    call.on('error', () => {});
    call.end();
    await until('the handler', () => app.defer.deferrer.afterQueue.depth === 2);
    call.destroy();
    await until('the end', () => log.length > 0);
    assert.deepEqual(log, ['gone hangs']);
    assert.equal(app.defer.deferrer.afterQueue.depth, 0);
  });

  it('keeps the arguments of a method with a level, and runs it on its instance', async () => {
    await (await fetch(`${app.url}/kept`)).text();
    await until('the call', () => log.length > 0);
    assert.deepEqual(log, ['keep 7 true']);
  });

  it('finds the request behind a parsed body', async () => {
    const headers = { 'content-type': 'application/json', traceparent: '00-aa-bb-01' };
    const init = { method: 'POST', headers, body: JSON.stringify({ n: 3 }) };
    assert.equal((await fetch(`${app.url}/body`, init)).status, 201);
    await until('the job', () => received.data.length > 0 && log.length > 0);
    assert.deepEqual(received.data, [{ n: 3 }]);
    assert.equal(received.deliveries[0]!.context?.traceparent, '00-aa-bb-01');
    assert.deepEqual(log, ['after 3']);
  });

  it('counts for Prometheus', () => {
    assert.match(app.defer.metrics(), /redline_defer_sent_total\{sink="methods"\} 1/);
  });
});

onBothFrameworks('@AfterResponse above memory', (framework) => {
  it('runs what a process before it had no time for', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'redline-nest-defer-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    log.length = 0;
    const down = { kind: 'down', send: () => Promise.reject(new Error('not there')) };
    const gone = createDefer({
      sinks: { methods: down },
      journal: { directory },
      logger: false,
      handleSignals: false,
    });
    const kept = gone.defer(defineJob<unknown[]>('Audit.keep'), [{ n: 9 }], { level: 'process' });
    await kept.acknowledged();
    await gone.close({ drainMs: 0 });

    const app = await startApp(framework, [], { journal: { directory } }, [Audit]);
    await until('the call', () => log.length > 0);
    await app.stop();
    assert.deepEqual(log, ['keep 9 true']);
  });

  it('runs what an end of the process cut off at level memory, where its arguments are JSON', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'redline-nest-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const runs: unknown[] = [];
    @Injectable()
    class Slow {
      isSlow = true;
      @AfterResponse()
      async work(what: unknown): Promise<void> {
        if (this.isSlow) await new Promise(() => {});
        runs.push(what);
      }
    }
    @Controller()
    class Calls {
      readonly #slow: Slow;
      constructor(@Inject(Slow) slow: Slow) {
        this.#slow = slow;
      }
      @Get('call')
      call(): object {
        void this.#slow.work({ n: 1 });
        void this.#slow.work(1n);
        return {};
      }
    }
    const options = { journal: { directory } };
    const first = await startApp(framework, [Calls], options, [Slow]);
    assert.equal((await fetch(`${first.url}/call`)).status, 200);
    const { deferrer } = first.defer;
    await until('the calls', () => deferrer.afterQueue.loaded === 2);
    // As at `process.exit()`.
    deferrer.closeSync();
    assert.equal(deferrer.afterQueue.stats.dropped.exit, 1);
    await first.stop();
    const second = await startApp(framework, [Calls], options, [Slow]);
    second.app.get(Slow).isSlow = false;
    t.after(() => second.stop());
    await until('the call', () => runs.length === 1);
    assert.deepEqual(runs, [{ n: 1 }]);
  });

  it('runs one call after the other where methods are `ordered: true`, and begins none behind one that fails', async (t) => {
    const calls: string[] = [];
    let failures = 1;
    @Injectable()
    class InOrder {
      @AfterResponse({ level: 'process' })
      async step(n: number): Promise<void> {
        calls.push(`begins ${n}`);
        await new Promise((resolve) => setImmediate(resolve));
        if (n === 2 && failures-- > 0) throw new Error('not yet');
        calls.push(`ends ${n}`);
      }
    }
    const directory = mkdtempSync(join(tmpdir(), 'redline-nest-defer-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const methods = { ordered: true, retry: { minMs: 1, maxMs: 1 } } as const;
    const app = await startApp(framework, [], { journal: { directory }, methods }, [InOrder]);
    const inOrder = app.app.get(InOrder);
    for (const n of [1, 2, 3]) void inOrder.step(n);
    await until('the last', () => calls.includes('ends 3'));
    await app.stop();
    assert.deepEqual(calls, [
      'begins 1',
      'ends 1',
      'begins 2',
      'begins 2',
      'ends 2',
      'begins 3',
      'ends 3',
    ]);
  });

  it('is an error at the start on a request-scoped class', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @AfterResponse({ level: 'process' })
      keep(): void {}
    }
    await assert.rejects(startApp(framework, [], {}, [PerRequest]), {
      code: 'ERR_REDLINE_DEFER_METHOD_SCOPE',
    });
  });

  it('is an error at the start for two methods of one name', async () => {
    @Injectable()
    class One {
      @AfterResponse({ name: 'same' })
      first(): void {}

      @AfterResponse({ name: 'same' })
      second(): void {}
    }
    await assert.rejects(startApp(framework, [], {}, [One]), {
      code: 'ERR_REDLINE_DEFER_METHOD_NAME',
    });
  });
});

it('the guide has every error code, with its sentence', () => {
  const guide = readFileSync('docs/guide/defer.md', 'utf8');
  for (const [code, sentence] of Object.entries(deferModuleErrorDocs)) {
    assert.ok(guide.includes(`| \`${code}\` | ${sentence} |`), code);
  }
});
