import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Handler, DeliveryResult } from '../../src/sink.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { handlers } from '../../src/sinks/handlers.ts';
import { delivery } from '../../src/testing/deliveries.ts';

/** An inbox of a database, and a table of effects beside it. */
export interface InboxUnderTest<Client> {
  open(table: string): Inbox<Client>;
  insert(client: Client, what: string): unknown;
  count(what: string): Promise<number>;
  /** Makes the commit impossible, in a way that a handler may not notice. */
  fail(client: Client): unknown;
}

/** The writes of a handler take effect once. */
export function testInbox<Client>(subject: InboxUnderTest<Client>): void {
  const { insert, count } = subject;

  it('does a job once if it is delivered again, later or at the same time', async () => {
    const what = await begun();
    const handler = open().once((_, client) => insert(client, what));
    const job = delivery();
    await Promise.all([run(handler, job), run(handler, job), run(handler, job)]);
    assert.equal(await run(handler, { ...job, attempt: 2, redelivered: true }), undefined);
    assert.equal(await count(what), 1);
  });

  it('tells jobs apart by name and key, or by id without a key, whatever their characters', async () => {
    const what = await begun();
    const handler = open().once((_, client) => insert(client, what));
    const keys = [
      'a',
      'A',
      'ä',
      'a ',
      '\ud83d',
      '\0',
      'a:b',
      'x'.repeat(5_000),
      `${'x'.repeat(5_000)}y`,
    ];
    const jobs = [
      ...keys.map((key) => delivery({ key })),
      delivery({ key: 'a', job: 'log' }),
      delivery(),
      delivery(),
    ];
    for (const job of [...jobs, ...jobs]) assert.equal(await run(handler, job), undefined);
    assert.equal(await count(what), jobs.length);
  });

  it('rolls back the writes of a handler that throws, and the job is retried', async () => {
    const what = await begun();
    let failures = 1;
    const handler = open().once(async (_, client) => {
      await insert(client, what);
      if (failures-- > 0) throw new Error('not yet');
    });
    const job = delivery();
    const failed = await run(handler, job);
    assert.equal(failed?.kind, 'retry');
    assert.equal((failed!.error as Error).message, 'not yet');
    assert.equal(await count(what), 0);
    assert.equal(await run(handler, job), undefined);
    assert.equal(await count(what), 1);
  });

  it('retries a job whose transaction ended in the handler, unnoticed', async () => {
    const what = await begun();
    const job = delivery();
    let isFirst = true;
    const handler = open().once(async (_, client) => {
      await insert(client, what);
      if (!isFirst) return;
      isFirst = false;
      await subject.fail(client);
    });
    const failed = await run(handler, job);
    assert.equal(failed?.kind, 'retry');
    assert.match((failed!.error as Error).message, /was not committed/);
    assert.equal(await count(what), 0);
    assert.equal(await run(handler, job), undefined);
    assert.equal(await count(what), 1);
  });

  it('rolls back a job that is out of time, though its handler goes on', async () => {
    const what = await begun();
    const gate = Promise.withResolvers<void>();
    const inserted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const abort = new AbortController();
    const inbox = open();
    let isFirst = true;
    const handler = inbox.once(async (_, client) => {
      await insert(client, what);
      if (!isFirst) return;
      isFirst = false;
      inserted.resolve();
      await gate.promise;
      try {
        await insert(client, what);
        ended.resolve(undefined);
      } catch (error) {
        ended.resolve(error);
      }
    });
    const job = delivery();
    const first = run(handler, job, abort.signal);
    await inserted.promise;
    abort.abort(new Error('too late'));
    assert.equal((await first)?.kind, 'retry');
    assert.equal(await run(handler, job), undefined);
    gate.resolve();
    assert.ok((await ended.promise) instanceof Error);
    assert.equal(await count(what), 1);
  });

  function open(): Inbox<Client> {
    return subject.open(randomUUID());
  }

  async function begun(): Promise<string> {
    const what = randomUUID();
    assert.equal(await count(what), 0);
    return what;
  }
}

/* As the sink runs it. */
async function run(
  handler: Handler,
  job: ReturnType<typeof delivery>,
  signal: AbortSignal = AbortSignal.timeout(30_000),
): Promise<DeliveryResult> {
  const sink = handlers({ 'send-mail': handler, log: handler });
  return (await sink.send([job], signal))?.[0];
}
