import type { Redis, RedisOptions } from 'ioredis';
import { untilAborted } from '../delivery/until-aborted.ts';
import type { SinkHost } from '../sink.ts';

/**
 * Commands are not queued and never sent twice by the client: the core keeps the jobs, counts the attempts and
 * schedules retries. ioredis would do all three by itself.
 */
const failAtOnce: Partial<RedisOptions> = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: false,
  lazyConnect: true,
  retryStrategy: (times) => Math.min(times * 50, 2_000),
};

interface Patience {
  readonly askEveryMs: number;
  readonly answerMs: number;
}

/** Interval between the pings of the server, and time limit for its response, in milliseconds. */
const patience: Patience = { askEveryMs: 5_000, answerMs: 10_000 };

/** The sink's own connection, with the options of the user's client. */
export class RedisLink {
  readonly client: Redis;
  readonly #host: SinkHost;
  #isClosed = false;
  /** Last availability that was reported to the host. */
  #isAvailable: boolean | undefined;
  /** Settles when the newest connection has identified its server. */
  #introduced: Promise<void>;
  #introduce!: () => void;
  readonly #answerMs: number;
  readonly #heart: NodeJS.Timeout;
  #runId: string | undefined;
  /** Id of the server's replication history, and the last offset in it. */
  #history = '';
  #offset = 0;
  /** Number of times the offset went back. */
  #setBack = 0;
  /** Time at which the oldest pending command was sent. */
  #askedAtMs: number | undefined;

  constructor(like: Redis, host: SinkHost, { askEveryMs, answerMs }: Patience = patience) {
    this.#answerMs = answerMs;
    this.#host = host;
    this.client = like.duplicate(failAtOnce);
    this.#introduced = this.#awaitIntroduction();
    let lastError: unknown;
    this.client.on('error', (error: unknown) => (lastError = error));
    this.client.on('ready', () => void this.#meet());
    this.client.on('close', () => {
      if (this.#isClosed) return;
      this.#introduced = this.#awaitIntroduction();
      // Emitted again with every failed connection attempt.
      if (this.#isAvailable === false) return;
      this.#isAvailable = false;
      host.available(false);
      if (lastError !== undefined) host.warn('The connection to Redis was lost.', lastError);
      lastError = undefined;
    });
    this.#heart = setInterval(() => this.#beat(), askEveryMs).unref();
    // It reports the failure as its own 'error' event, and keeps trying.
    this.client.connect().catch(() => {});
  }

  /** Resolves when commands can be sent; at once if they cannot. */
  async ready(signal: AbortSignal): Promise<void> {
    const { status } = this.client;
    if (status !== 'ready' && status !== 'connecting' && status !== 'connect') {
      throw new Error(`Redis is unavailable: the connection is "${status}".`);
    }
    await untilAborted(this.#introduced, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#heart);
    if (this.client.status === 'ready') await this.client.quit().catch(() => {});
    this.client.disconnect();
  }

  async #meet(): Promise<void> {
    try {
      const info = await this.client.info();
      this.#runId = /^run_id:(\w+)/m.exec(info)?.[1];
      this.#see(info);
    } catch (error) {
      // The connection was lost during the command.
      if (this.client.status !== 'ready') return;
      // Restarts of a server that hides INFO cannot be detected.
      this.#host.warn('Redis does not report its run id: its restarts go unnoticed.', error);
    }
    this.#askedAtMs = undefined;
    this.#introduce();
    this.#isAvailable = true;
    this.#host.available(true);
  }

  /*
   * A dead host, or a NAT that has forgotten the connection, closes nothing: the kernel would retry for a quarter of an
   * hour. A connection without a response in time is replaced.
   */
  #beat(): void {
    const { status } = this.client;
    const isWaiting = status === 'connect' || status === 'ready';
    if (!isWaiting) this.#askedAtMs = undefined;
    else if (this.#askedAtMs === undefined) this.#ping();
    else if (performance.now() - this.#askedAtMs >= this.#answerMs) {
      this.#askedAtMs = undefined;
      this.client.disconnect(true);
    }
  }

  #ping(): void {
    this.#askedAtMs ??= performance.now();
    // Until the connection has identified its server, that is what the client waits for.
    if (this.client.status !== 'ready') return;
    void this.#listen(this.client.info('replication'));
  }

  async #listen(answer: Promise<string>): Promise<void> {
    try {
      const info = await answer;
      if (this.#isAvailable) this.#see(info);
    } catch {
      // The connection is gone, which it reports itself.
    }
    this.#askedAtMs = undefined;
  }

  /*
   * A server that was made a replica, took over the data of another one, and was promoted keeps its run id: only its
   * history has a new id. An offset that goes back is another history, too.
   */
  #see(info: string): void {
    if (this.#runId === undefined) return;
    const history = /^master_replid:(\w+)/m.exec(info)?.[1] ?? '';
    const offset = Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1] ?? 0);
    if (history === this.#history && offset < this.#offset) this.#setBack++;
    this.#history = history;
    this.#offset = offset;
    const setBack = this.#setBack === 0 ? '' : `:${this.#setBack}`;
    this.#host.generation(`${this.#runId}:${history}${setBack}`);
  }

  #awaitIntroduction(): Promise<void> {
    const before = this.#introduce as (() => void) | undefined;
    const next = new Promise<void>((resolve) => (this.#introduce = resolve));
    // Callers waiting for a lost connection find out with their first command.
    before?.();
    return next;
  }
}
