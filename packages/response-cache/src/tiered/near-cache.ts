import { isDamaged } from '../answer/entry-format.ts';
import { DropListeners } from '../store/json-store.ts';
import { isLease } from '../store/lease.ts';
import type { LruMap } from '../store/lru-map.ts';
import type { Servers } from '../wire/servers.ts';
import type { ConnectionListener } from '../wire/redis-connection.ts';
import { RedisConnections } from '../wire/redis-connections.ts';

/* Size of a value without its characters: its entry, and that of the Map. */
const overheadBytes = 160;

/**
 * The part of Redis in this process: only values from tracked reads, and only until Redis reports a change. Emptied once
 * a connection for these reports is lost.
 */
export class NearCache {
  readonly #values: LruMap;
  readonly #reads = new NearReads();
  readonly #connections: RedisConnections;
  /** Called with each key that is dropped. */
  readonly listeners: DropListeners = new DropListeners();
  readonly #waiters = new Map<string, Set<() => void>>();
  #changes = 0;
  #losses = 0;

  constructor(
    values: LruMap,
    servers: Servers,
    { silenceMs, onRefused }: { silenceMs: number; onRefused: (reason: string) => void },
  ) {
    this.#values = values;
    const listener: ConnectionListener = {
      onInvalidated: (keys) => {
        if (keys === undefined) this.dropAll();
        else for (const key of keys) this.drop(key);
      },
      onLost: () => {
        this.#losses += 1;
        this.dropAll();
      },
    };
    this.#connections = new RedisConnections(servers, silenceMs, { listener, onRefused });
  }

  /** True while all values may be kept here. */
  get isReady(): boolean {
    return this.#connections.areReady;
  }

  /**
   * Number of drops. Evictions because of size do not count: Redis continues to report their changes.
   */
  get changes(): number {
    return this.#changes;
  }

  /** Number of times a connection for these reports was lost. */
  get losses(): number {
    return this.#losses;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  /**
   * Returns the value in Redis, which is kept here from then on. A lease counts as missing.
   *
   * @throws {ConnectionLostError} its changes would go unnoticed
   */
  async fetch(key: string): Promise<string | null> {
    const read = this.#reads.of(key) ?? this.#reads.start(key, (own) => this.#load(key, own));
    const raw = await read.found;
    return raw === null || isLease(raw) ? null : raw;
  }

  /**
   * Returns the value in Redis after `script` ran on `key`, and its remaining lifetime.
   *
   * @throws {ConnectionLostError}
   */
  async runAndRead(
    key: string,
    script: string,
    args: readonly string[],
  ): Promise<{ raw: string | null; leftMs: number }> {
    const run = ['EVAL', script, '1', key, ...args];
    const [, raw, leftMs] = await this.#connections.send(key, run, ['GET', key], ['PTTL', key]);
    return { raw: raw as string | null, leftMs: leftMs as number };
  }

  /** Forgets `key`, and its pending read. */
  drop(key: string): void {
    this.#changes += 1;
    this.#values.delete(key);
    this.#reads.void(key);
    this.listeners.notify([key]);
    this.#wake(key);
  }

  #wake(key: string): void {
    const waiters = this.#waiters.get(key);
    if (waiters === undefined) return;
    this.#waiters.delete(key);
    for (const wake of waiters) wake();
  }

  dropAll(): void {
    this.#changes += 1;
    this.#values.clear();
    this.#reads.voidAll();
    this.listeners.notify(undefined);
    for (const key of this.#waiters.keys()) this.#wake(key);
  }

  /** Watches from the call on; `within` waits until `key` is dropped or `ms` milliseconds have passed. */
  watch(key: string): { within(ms: number): Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters.add(resolve));
    const stop = (): void => {
      waiters.delete(resolve);
      if (waiters.size === 0 && this.#waiters.get(key) === waiters) this.#waiters.delete(key);
    };
    return {
      stop,
      async within(ms) {
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
        stop();
      },
    };
  }

  close(): void {
    this.#connections.close();
    this.dropAll();
  }

  async #load(key: string, read: { readonly isVoid: boolean }): Promise<string | null> {
    const sent = this.#connections.send(key, ['GET', key], ['PTTL', key]);
    const [raw, leftMs] = (await sent) as [string | null, number];
    if (raw === null || isLease(raw) || read.isVoid || leftMs <= 0) return raw;
    // Values in this memory are not checked again.
    if (isDamaged(raw)) return raw;
    this.#values.put(key, raw, leftMs, bytesOf(key) + bytesOf(raw) + overheadBytes);
    return raw;
  }
}

/* V8 keeps a text in one byte for each character if all of them are Latin-1. */
function bytesOf(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\xff]*$/.test(text) ? text.length : text.length * 2;
}

/** A pending read. It is a ticket: once it is void, a change has overtaken its result. */
export interface NearRead {
  readonly found: Promise<string | null>;
  isVoid: boolean;
}

/** The reads of Redis that fill the memory of this process, one for all callers of a key. */
export class NearReads {
  readonly #reads = new Map<string, NearRead>();

  of(key: string): NearRead | undefined {
    return this.#reads.get(key);
  }

  /** Starts a read; `fetch` sees in it when the result may no longer be kept. */
  start(key: string, fetch: (read: NearRead) => Promise<string | null>): NearRead {
    const read: { found?: Promise<string | null>; isVoid: boolean } = { isVoid: false };
    read.found = fetch(read as NearRead).finally(() => {
      if (this.#reads.get(key) === read) this.#reads.delete(key);
    });
    this.#reads.set(key, read as NearRead);
    return read as NearRead;
  }

  void(key: string): void {
    const read = this.#reads.get(key);
    if (read === undefined) return;
    read.isVoid = true;
    // Later callers start a new read.
    this.#reads.delete(key);
  }

  voidAll(): void {
    for (const key of this.#reads.keys()) this.void(key);
  }
}
