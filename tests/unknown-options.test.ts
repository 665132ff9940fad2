// A name that is mistyped must not be a default that nobody asked for: whatever takes options refuses those it does not know.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createPool } from '@redline/child-process';
import { createDefer, defineJob, type Sink } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { mariadbInbox } from '@redline/defer/mariadb-inbox';
import { postgresInbox } from '@redline/defer/postgres-inbox';
import { bullmq } from '@redline/defer/sinks/bullmq';
import { handlers } from '@redline/defer/sinks/handlers';
import { http } from '@redline/defer/sinks/http';
import { kafka } from '@redline/defer/sinks/kafka';
import { mariadbOutbox } from '@redline/defer/sinks/mariadb-outbox';
import { nats } from '@redline/defer/sinks/nats';
import { postgres } from '@redline/defer/sinks/postgres';
import { postgresOutbox } from '@redline/defer/sinks/postgres-outbox';
import { rabbitmq } from '@redline/defer/sinks/rabbitmq';
import { redisStreams } from '@redline/defer/sinks/redis-streams';
import { replies } from '@redline/defer/sinks/replies';
import { sns } from '@redline/defer/sinks/sns';
import { sqliteOutbox } from '@redline/defer/sinks/sqlite-outbox';
import { sqs } from '@redline/defer/sinks/sqs';
import { sqliteInbox } from '@redline/defer/sqlite-inbox';
import eslintPlugin from '@redline/eslint-plugin';
import { runThreads } from '@redline/http';
import {
  AfterResponse,
  JsonCache as CacheRoute,
  JsonCacheModule,
  LoggerModule,
} from '@redline/nest';
import {
  compressed,
  JsonCache,
  memoryStore,
  redisStore,
  tieredStore,
} from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';

const root = join(import.meta.dirname, '..');
const client = { options: {}, status: 'wait', on: () => client, defineCommand: () => {} };
const cache = new JsonCache();
const sink: Sink = { kind: 'none', send: async () => undefined };
const pool = { query: async () => ({ rows: [] }), connect: async () => client };

/** Each is called with options that nobody knows, beside those it needs. */
const entries: Record<string, (unknown: never) => unknown> = {
  createPool,
  runThreads: (options) => runThreads(1, import.meta.url, options),

  JsonCache: (options) => new JsonCache(options),
  memoryStore,
  compressed: (options) => compressed(memoryStore(), options),
  redisStore: (options) => redisStore(client as never, options),
  tieredStore: (options) => tieredStore(client as never, options),
  'cached()': (options) => cached(cache, {}, options),
  'cached(), its policy': (options) => cached(cache, options),

  createDefer: (options) => createDefer({ sinks: { sink }, ...(options as object) }),
  'createDefer, a sink': (options) =>
    createDefer({ sinks: { mail: { sink, ...(options as object) } } }),
  'createDefer, its journal': (options) =>
    createDefer({ sinks: { sink }, journal: { directory: '/nowhere', ...(options as object) } }),
  defineJob: (options) => defineJob('job', options),
  expressDefer: (options) => expressDefer({} as never, options),
  postgresInbox: (options) => postgresInbox({ pool, ...(options as object) } as never),
  bullmq: (options) => bullmq({} as never, options),
  handlers: (options) => handlers({}, options),
  http: (options) => http({ url: 'http://127.0.0.1/', ...(options as object) }),
  kafka,
  nats,
  postgres: (options) => postgres({ pool, ...(options as object) } as never),
  postgresOutbox: (options) => postgresOutbox({ pool, ...(options as object) } as never),
  mariadbInbox: (options) => mariadbInbox({ pool, ...(options as object) } as never),
  mariadbOutbox: (options) => mariadbOutbox({ pool, ...(options as object) } as never),
  sqliteInbox: (options) => sqliteInbox({ open: () => pool, ...(options as object) } as never),
  sqliteOutbox: (options) => sqliteOutbox({ database: {}, ...(options as object) } as never),
  rabbitmq,
  redisStreams,
  replies: (options) => replies({ work: {}, ...(options as object) }),
  sns,
  sqs,

  '@AfterResponse': (options) => AfterResponse(options),
  '@JsonCache': (options) => CacheRoute(options),
  JsonCacheModule: (options) => JsonCacheModule.forRoot(options),
  LoggerModule: (options) => LoggerModule.forRoot(options),
};

describe('an unknown option is refused, by a code and by its name:', () => {
  for (const [name, call] of Object.entries(entries)) {
    test(name, () => {
      assert.throws(
        () => call({ nonsense: 1 } as never),
        (error: NodeJS.ErrnoException) => {
          assert.match(String(error.code), /^ERR_REDLINE_\w+_OPTION$/, String(error.stack));
          assert.match(
            error.message,
            /^Unknown option "nonsense" of [@\w]+(\.\w+)*(\(\))?\. Known options: \w+(, \w+)*\.$/,
          );
          return true;
        },
      );
    });
  }
});

test('every sink that there is has its line above', () => {
  const sinks = globSync('packages/defer/src/sinks/*.ts', { cwd: root }).flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^export function (\w+)\([^)]*options: \w+Options/gm,
      ),
    ].map(([, name]) => name!),
  );
  assert.ok(sinks.length > 8, sinks.join());
  assert.deepEqual(
    sinks.filter((name) => !Object.hasOwn(entries, name)),
    [],
  );
});

test('no rule takes options, so ESLint refuses all', () => {
  assert.ok(Object.keys(eslintPlugin.rules).length > 20);
  for (const [name, rule] of Object.entries(eslintPlugin.rules))
    assert.deepEqual((rule as { meta: { schema?: unknown } }).meta.schema ?? [], [], name);
});
