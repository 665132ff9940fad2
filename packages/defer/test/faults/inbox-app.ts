// An app whose handler writes to PostgreSQL, killed around its commits.
import fastify from 'fastify';
import { Pool, type PoolClient } from 'pg';
import { createDefer, defer, defineJob } from '../../src/index.ts';
import { fastifyDefer } from '../../src/adapters/fastify.ts';
import { postgresInbox, type InboxPool } from '../../src/postgres/postgres-inbox.ts';
import { handlers } from '../../src/sinks/handlers.ts';

export interface InboxAppSettings {
  directory: string;
  url: string;
  /** The commit of a handler this process dies at, and when: asked for and not sent, on its way, or done and not acknowledged. */
  crash?: { commit: number; moment: 'before' | 'within' | 'behind' };
}

const { directory, url, crash }: InboxAppSettings = JSON.parse(process.argv[2]!);
const pool = new Pool({ connectionString: url, max: 8 });
let commits = 0;

const dying: InboxPool<PoolClient> = {
  query: (text, values) => pool.query(text, values),
  async connect() {
    const client = await pool.connect();
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target);
        return (text: string, values?: unknown[]) => query(target, text, values);
      },
    });
  },
};

async function query(client: PoolClient, text: string, values?: unknown[]): Promise<unknown> {
  if (text !== 'commit' || ++commits !== crash?.commit) return client.query(text, values);
  if (crash.moment === 'before') die();
  const done = client.query(text);
  // Its bytes are with the kernel, and the server may, or may not, come to read them.
  if (crash.moment === 'within') setImmediate(die);
  await done;
  die();
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const inbox = postgresInbox<PoolClient>({ pool: dying });
const charge = defineJob<{ id: string }>('charge');
const begun = new Set<string>();
const once = inbox.once(async ({ id }: { id: string }, client) => {
  begun.add(id);
  await client.query('insert into effects (id) values ($1)', [id]);
});
const deferrer = createDefer({
  sinks: {
    work: {
      sink: handlers({
        charge: async (data, delivery, signal) => {
          await once(data, delivery, signal);
          if (!begun.has(data.id)) await pool.query('insert into skipped values ($1)', [data.id]);
        },
      }),
      batch: { jobs: 8 },
    },
  },
  level: 'process',
  journal: { directory, adoptEveryMs: 50 },
  logger: false,
});

const app = fastify();
app.get<{ Params: { id: string } }>('/:id', ({ params: { id } }) => {
  defer(charge, { id });
  return { id };
});
app.get('/depth', () => ({ depth: deferrer.queues.get('work')!.depth }));
await app.register(fastifyDefer, { deferrer });
process.send!({ url: await app.listen({ port: 0, host: '127.0.0.1' }) });
process.on('disconnect', () => process.exit());
