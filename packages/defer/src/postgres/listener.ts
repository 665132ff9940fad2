import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPool } from './pool.ts';

/** The part of a lent `pg` client that is used for listening. */
interface ListeningClient extends PostgresPool {
  on(event: string, listener: (event: { readonly payload?: string }) => void): unknown;
  release(error?: Error | boolean): void;
}

interface ListenablePool extends PostgresPool {
  readonly options?: { readonly max?: number };
  connect?(): Promise<ListeningClient>;
}

const fewestConnections = 4;
const proofMs = 2_000;
const againMs = 5_000;

/**
 * Listens to a channel on a connection of its own. A pooler between here and the server may drop notifications silently, so the
 * listener counts as working only once it has received one that it sent itself.
 */
export class Listener {
  readonly #pool: ListenablePool;
  readonly #channel: string;
  readonly #notified: () => void;
  readonly #closing = new AbortController();
  #client: ListeningClient | undefined;
  #running: Promise<void> | undefined;
  isListening = false;

  constructor(pool: PostgresPool, channel: string, notified: () => void) {
    this.#pool = pool;
    this.#channel = channel;
    this.#notified = notified;
  }

  open(): void {
    // One connection of the pool is taken for good: a small pool has none to spare.
    const { max = 0 } = this.#pool.options ?? {};
    if (typeof this.#pool.connect !== 'function' || max < fewestConnections) return;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#client?.release(true);
    this.#client = undefined;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#listen().catch(() => {});
      this.isListening = false;
      // A poll finds the rows committed in the meantime.
      this.#notified();
      await sleep(againMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /* Runs until the connection ends. */
  async #listen(): Promise<void> {
    const client = await this.#pool.connect!();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    client.on('error', () => end());
    client.on('end', () => end());
    if (this.#closing.signal.aborted) return client.release(true);
    this.#client = client;
    const proof = randomBytes(8).toString('hex');
    const { promise: proven, resolve: prove } = Promise.withResolvers<void>();
    client.on('notification', ({ payload }) => {
      if (payload === proof) prove();
      else this.#notified();
    });
    await client.query(`listen ${this.#channel}`);
    await client.query('select pg_notify($1, $2)', [this.#channel.slice(1, -1), proof]);
    const timer = new AbortController();
    const isProven = await Promise.race([
      proven.then(() => true),
      ended.then(() => false),
      sleep(proofMs, false, { signal: timer.signal, ref: false }).catch(() => false),
    ]);
    timer.abort();
    if (isProven) {
      this.isListening = true;
      this.#notified();
      await ended;
    }
    if (this.#client === undefined) return;
    this.#client = undefined;
    client.release(true);
  }
}
