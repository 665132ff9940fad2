// Level outbox through HTTP: a response that claims success waits for the commit, and claims nothing that was rolled back.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it, type TestContext } from 'node:test';
import { startPostgres } from '@redline/services';
import express from 'express';
import fastify from 'fastify';
import { Pool, type PoolClient } from 'pg';
import { expressDefer } from '../src/adapters/express.ts';
import { fastifyDefer } from '../src/adapters/fastify.ts';
import { createDefer, defer, defineJob, type Deferrer } from '../src/index.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { postgresOutbox } from '../src/sinks/postgres-outbox.ts';
import { until } from '@redline/services/until';
import { listening, TestLogger } from './harness.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

const note = defineJob<string>('note', { level: 'outbox' });

/** The reply of the framework, as far as the handlers here use it. */
interface Reply {
  send(status: number): void;
  /** Called when the response has left. */
  finished(callback: () => void): void;
}

type Handler = (client: PoolClient, reply: Reply) => Promise<void>;

interface App {
  readonly deferrer: Deferrer;
  readonly url: string;
  readonly done: string[];
  readonly logger: TestLogger;
}

describe('a response with a job of level outbox', { skip: missing ?? false }, () => {
  const pool = new Pool({ connectionString: server?.url ?? '', max: 8 });
  after(() => pool.end());

  for (const framework of ['express', 'fastify'] as const) {
    it(`leaves when the transaction is committed, though the handler has sent it, on ${framework}`, async (t) => {
      let committed = false;
      const app = await start(t, framework, async (client, reply) => {
        await client.query('begin');
        await defer(note, 'kept', { transaction: client }).acknowledged();
        reply.send(200);
        // Whatever could leave by now has left.
        for (let n = 0; n < 20; n++) await client.query('select 1');
        committed = true;
        await client.query('commit');
      });
      const { status } = await fetch(app.url);
      assert.deepEqual({ status, committed }, { status: 200, committed: true });
      await until('the job', () => app.done.length === 1);
    });

    it(`leaves at once when it was committed before, on ${framework}`, async (t) => {
      const app = await start(t, framework, async (client, reply) => {
        await client.query('begin');
        // Not awaited: a client runs its queries in their order.
        defer(note, 'a', { transaction: client });
        defer(note, 'b', { transaction: client });
        await client.query('commit');
        reply.send(201);
      });
      const all = await Promise.all(
        Array.from({ length: 20 }, async () => (await fetch(app.url)).status),
      );
      assert.deepEqual([...new Set(all)], [201]);
      await until('the jobs', () => app.done.length === 40);
      assert.deepEqual(app.logger.lines, []);
    });

    it(`is a 503 where the transaction was rolled back, or its commit was, on ${framework}`, async (t) => {
      const ends: Handler[] = [
        async (client) => void (await client.query('rollback')),
        async (client) => {
          await client.query('select no_such_column').catch(() => {});
          // The server responds with the tag ROLLBACK, and no error.
          assert.equal((await client.query('commit')).command, 'ROLLBACK');
        },
      ];
      for (const end of ends) {
        const app = await start(t, framework, async (client, reply) => {
          await client.query('begin');
          await defer(note, 'never', { transaction: client }).acknowledged();
          await end(client, reply);
          reply.send(200);
        });
        const response = await fetch(app.url);
        assert.equal(response.status, 503);
        assert.match(await response.text(), /ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED/);
        assert.deepEqual(app.done, []);
      }
    });

    it(`says that it failed, and waits for no commit then, on ${framework}`, async (t) => {
      let isOver: (() => void) | undefined;
      const app = await start(t, framework, async (client, reply) => {
        await client.query('begin');
        await defer(note, 'never', { transaction: client }).acknowledged();
        reply.send(409);
        await new Promise<void>((resolve) => void (isOver = resolve));
        await client.query('rollback');
      });
      assert.equal((await fetch(app.url)).status, 409);
      isOver!();
    });

    it(`is refused, with a sentence, where the transaction ends when the response has left, on ${framework}`, async (t) => {
      const app = await start(
        t,
        framework,
        async (client, reply) => {
          await client.query('begin');
          await defer(note, 'never', { transaction: client }).acknowledged();
          const { promise, resolve } = Promise.withResolvers<void>();
          reply.finished(resolve);
          reply.send(200);
          await promise;
          await client.query('rollback');
        },
        400,
      );
      assert.equal((await fetch(app.url)).status, 503);
      assert.equal((await fetch(app.url)).status, 503);
      assert.equal(app.logger.lines.length, 1);
      assert.match(app.logger.lines[0]!, /did not end within 400 ms.*commit before the response/);
      assert.deepEqual(app.done, []);
    });
  }

  it('is not claimed by an insert that is in no transaction', async (t) => {
    const app = await start(t, 'express', async (client, reply) => {
      for (const transaction of [pool, client]) {
        await assert.rejects(async () => defer(note, 'never', { transaction }).acknowledged(), {
          code: 'ERR_REDLINE_DEFER_LEVEL',
          message: /client on which "begin" was run/,
        });
      }
      // Queued, and not begun yet when the job is deferred.
      void client.query('begin');
      await defer(note, 'kept', { transaction: client, request: null }).acknowledged();
      await client.query('commit');
      reply.send(400);
    });
    assert.equal((await fetch(app.url)).status, 400);
    await until('the job', () => app.done.length === 1);
    assert.deepEqual(app.done, ['kept']);
  });

  async function start(
    t: TestContext,
    framework: 'express' | 'fastify',
    handler: Handler,
    limitMs = 60_000,
  ): Promise<App> {
    const done: string[] = [];
    const logger = new TestLogger();
    const deferrer = createDefer({
      sinks: { work: handlers({ note: (what: string) => void done.push(what) }) },
      outbox: postgresOutbox({ pool, table: randomUUID(), pollMs: 20 }),
      acknowledgeTimeoutMs: limitMs,
      handleSignals: false,
      logger,
    });
    await deferrer.ready();
    const run = async (reply: Reply): Promise<void> => {
      const client = await pool.connect();
      try {
        await handler(client, reply);
      } finally {
        client.release();
      }
    };
    t.after(() => deferrer.close());
    if (framework === 'fastify') {
      const app = fastify();
      await app.register(fastifyDefer, { deferrer, closeWithApp: false });
      app.get('/', (_, reply) => {
        void run({
          send: (status) => void reply.code(status).send({ status }),
          finished: (callback) => void reply.raw.once('finish', callback),
        });
      });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      t.after(() => app.close());
      return { deferrer, url, done, logger };
    }
    const app = express();
    app.use(expressDefer(deferrer));
    app.get('/', (_, response) => {
      void run({
        send: (status) => void response.status(status).json({ status }),
        finished: (callback) => void response.once('finish', callback),
      });
    });
    return { deferrer, url: await listening(t, app), done, logger };
  }
});
