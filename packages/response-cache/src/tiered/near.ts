import { DropListeners } from '../store/drops.ts';
import { isLease } from '../store/lease.ts';
import { NearReads } from './near-reads.ts';
import type { Shelf } from '../store/shelf.ts';
import type { Servers } from '../wire/servers.ts';
import type { WireListener } from '../wire/wire.ts';
import { Wires } from '../wire/wires.ts';

/* What a value costs beside its characters: its entry, and that of the Map. */
const overheadBytes = 160;

/**
 * The part of Redis in this process: only values from tracked reads, and only until Redis reports a change. Empty once
 * a connection for these reports is lost.
 */
export class Near {
  readonly #shelf: Shelf;
  readonly #reads = new NearReads();
  readonly #wires: Wires;
  /** Hear of each key that is dropped. */
  readonly listeners: DropListeners = new DropListeners();
  readonly #waiters = new Map<string, Set<() => void>>();
  #changes = 0;
  #losses = 0;

  constructor(
    shelf: Shelf,
    servers: Servers,
    { silenceMs, onRefused }: { silenceMs: number; onRefused: (reason: string) => void },
  ) {
    this.#shelf = shelf;
    const listener: WireListener = {
      onInvalidated: (keys) => {
        if (keys === undefined) this.dropAll();
        else for (const key of keys) this.drop(key);
      },
      onLost: () => {
        this.#losses += 1;
        this.dropAll();
      },
    };
    this.#wires = new Wires(servers, silenceMs, { listener, onRefused });
  }

  /** Whether everything may be kept here. */
  get isReady(): boolean {
    return this.#wires.areReady;
  }

  /**
   * How often something was dropped. Evictions because of size do not count: Redis continues to report their changes.
   */
  get changes(): number {
    return this.#changes;
  }

  /** How often a connection for these reports was lost. */
  get losses(): number {
    return this.#losses;
  }

  get(key: string): string | undefined {
    return this.#shelf.get(key);
  }

  /**
   * The value in Redis, which is kept here from then on. A lease counts as none.
   *
   * @throws {LostWire} its changes would go unnoticed
   */
  async fetch(key: string): Promise<string | null> {
    const read = this.#reads.of(key) ?? this.#reads.start(key, (own) => this.#load(key, own));
    const raw = await read.found;
    return raw === null || isLease(raw) ? null : raw;
  }

  /**
   * What is in Redis after `script` ran on `key`, and how long it is good for.
   *
   * @throws {LostWire}
   */
  async runAndRead(
    key: string,
    script: string,
    args: readonly string[],
  ): Promise<{ raw: string | null; leftMs: number }> {
    const run = ['EVAL', script, '1', key, ...args];
    const [, raw, leftMs] = await this.#wires.send(key, run, ['GET', key], ['PTTL', key]);
    return { raw: raw as string | null, leftMs: leftMs as number };
  }

  /** Forgets `key`, and what is being read of it. */
  drop(key: string): void {
    this.#changes += 1;
    this.#shelf.delete(key);
    this.#reads.void(key);
    this.listeners.tell([key]);
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
    this.#shelf.clear();
    this.#reads.voidAll();
    this.listeners.tell(undefined);
    for (const key of this.#waiters.keys()) this.#wake(key);
  }

  /** Listens from the call on; `within` waits until `key` was dropped or `ms` are over. */
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
    this.#wires.close();
    this.dropAll();
  }

  async #load(key: string, read: { readonly isVoid: boolean }): Promise<string | null> {
    const sent = this.#wires.send(key, ['GET', key], ['PTTL', key]);
    const [raw, leftMs] = (await sent) as [string | null, number];
    if (raw === null || isLease(raw) || read.isVoid || leftMs <= 0) return raw;
    this.#shelf.put(key, raw, leftMs, bytesOf(key) + bytesOf(raw) + overheadBytes);
    return raw;
  }
}

/* V8 keeps a text in one byte for each character where all of them are Latin-1. */
function bytesOf(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\xff]*$/.test(text) ? text.length : text.length * 2;
}
