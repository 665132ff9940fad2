import type { Redis, RedisOptions } from 'ioredis';
import { untilAborted } from '../delivery/until-aborted.ts';
import type { SinkHost } from '../sink.ts';

/**
 * A command waits in no queue and is never sent twice by the client: the core keeps the jobs, counts the attempts and
 * knows when to try again. ioredis would do all three behind its back.
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

/** How often the server is asked for a sign of life, and how long it may take for one, in milliseconds. */
const patience: Patience = { askEveryMs: 5_000, answerMs: 10_000 };

/** A connection of the sink's own, made like one of the user's. */
export class RedisLink {
  readonly client: Redis;
  readonly #host: SinkHost;
  #isClosed = false;
  /** What the host heard last. */
  #isAvailable: boolean | undefined;
  /** Settles when the newest connection has said which server it is. */
  #introduced: Promise<void>;
  #introduce!: () => void;
  readonly #answerMs: number;
  readonly #heart: NodeJS.Timeout;
  #runId: string | undefined;
  /** When the server was asked for something that has not come. */
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
      // Comes again with every connection that cannot be made.
      if (this.#isAvailable === false) return;
      this.#isAvailable = false;
      host.available(false);
      if (lastError !== undefined) host.warn('The connection to Redis was lost.', lastError);
      lastError = undefined;
    });
    this.#heart = setInterval(() => this.#beat(), askEveryMs).unref();
    // It reports the failure as its own 'error' event, and goes on trying.
    this.client.connect().catch(() => {});
  }

  /** Resolves when commands can be sent; at once where they cannot. */
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
      const info = await this.client.info('server');
      const runId = /^run_id:(\w+)/m.exec(info)?.[1];
      this.#runId = runId;
      if (runId !== undefined) this.#host.generation(runId);
    } catch (error) {
      // It went while it was asked.
      if (this.client.status !== 'ready') return;
      // A server that hides INFO is one whose restarts nobody can tell.
      this.#host.warn('Redis does not report its run id: its restarts go unnoticed.', error);
    }
    this.#askedAtMs = undefined;
    this.#introduce();
    this.#isAvailable = true;
    this.#host.available(true);
  }

  /* A host that is gone, or a NAT that has forgotten the connection, ends nothing: the kernel would go on for a quarter
     of an hour. What has not answered in time is replaced. */
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
    // Until the connection is introduced, its introduction is what is waited for.
    if (this.client.status !== 'ready') return;
    void this.#listen(this.client.ping());
  }

  async #listen(answer: Promise<unknown>): Promise<void> {
    try {
      await answer;
      if (this.#runId !== undefined && this.#isAvailable) this.#host.generation(this.#runId);
    } catch {
      // The connection is gone, which it says itself.
    }
    this.#askedAtMs = undefined;
  }

  #awaitIntroduction(): Promise<void> {
    const before = this.#introduce as (() => void) | undefined;
    const next = new Promise<void>((resolve) => (this.#introduce = resolve));
    // Who waits for the connection that was lost finds out with its first command.
    before?.();
    return next;
  }
}
