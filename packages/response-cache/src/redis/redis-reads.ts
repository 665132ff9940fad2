import type { RedisCommands } from './redis-client.ts';

/*
 * The user may not call MGET, a proxy does not know it, or the server belongs to a cluster that the client does not know about:
 * such a server reads several keys only if they share a slot, even if it has all of them.
 */
const isRefused = /^(?:NOPERM|ERR unknown command|CROSSSLOT)/;

/* A reply has to arrive in full before any caller gets a value. */
const maxKeys = 256;

type Value = string | null;
type Resolve = (values: readonly (Value | Promise<Value>)[]) => void;

/** A caller that waits for one key. */
interface Waiter {
  readonly place: number;
  resolve(value: Value | Promise<Value>): void;
  reject(error: unknown): void;
}

/** The keys of one command, and the callers that wait for their values. */
class Batch {
  readonly keys: string[] = [];
  /* By their names in the cache, whose hashes are known: building and hashing the names in Redis takes 5 % of a hit. */
  readonly #values = new Map<string, number>();
  readonly #tags = new Map<string, number>();
  /* Reads of one list of keys for several callers: hits under one key have the same tags. */
  readonly lists = new Map<readonly string[], Promise<unknown>>();
  readonly waiters: Waiter[] = [];
  readonly resolvers: Resolve[] = [];
  readonly rejecters: ((error: unknown) => void)[] = [];

  placeOfValue(name: string, keyOf: (name: string) => string): number {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    this.#values.set(name, this.keys.length);
    return this.keys.push(keyOf(name)) - 1;
  }

  placeOfTag(key: string): number {
    const known = this.#tags.get(key);
    if (known !== undefined) return known;
    this.#tags.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }
}

/**
 * Reads everything requested in one turn of the event loop with one command: for the client a command costs more than a key,
 * and a key is read after every caller that gets its value has asked for it.
 *
 * A key that holds something other than text counts as missing.
 */
export class RedisReads {
  readonly #commands: RedisCommands;
  /* Scope of MGET: values and tags in one command, tags alone, or nothing. */
  #together: 'all' | 'tags' | 'none';
  #batch: Batch | undefined;

  constructor(commands: RedisCommands) {
    this.#commands = commands;
    this.#together = commands.batches ? 'all' : 'tags';
  }

  /** Returns the value that the cache has under `name`, and Redis under `keyOf(name)`. */
  get(name: string, keyOf: (name: string) => string): Promise<Value> {
    if (this.#together !== 'all') return this.#commands.get(keyOf(name));
    const batch = this.#open(1);
    const place = batch.placeOfValue(name, keyOf);
    // A promise of its own, settled by the reply itself: a read must not take more steps than a write whose reply follows it.
    return new Promise((resolve, reject) => void batch.waiters.push({ place, resolve, reject }));
  }

  /**
   * Returns the result of `convert` for the versions of tags, which are in one slot of a cluster. Callers of one turn that pass
   * the same list get the same promise: pass it with the same `keysOf` and `convert`.
   */
  getMany<Result>(
    list: readonly string[],
    keysOf: (list: readonly string[]) => readonly string[],
    convert: (values: readonly Value[]) => Result,
  ): Promise<Result> {
    const known = this.#batch?.lists.get(list);
    if (known !== undefined) return known as Promise<Result>;
    const keys = keysOf(list);
    if (this.#together === 'none')
      return Promise.all(keys.map((key) => this.#getText(key))).then(convert);
    const batch = this.#open(keys.length);
    const places = keys.map((key) => batch.placeOfTag(key));
    const result = new Promise<Result>((resolve, reject) => {
      batch.resolvers.push((values) => {
        const found = places.map((place) => values[place]!);
        resolve(isRead(found) ? convert(found) : Promise.all(found).then(convert));
      });
      batch.rejecters.push(reject);
    });
    batch.lists.set(list, result);
    return result;
  }

  /* Same as MGET: a key that is not text has no value. */
  #getText(key: string): Promise<Value> {
    return this.#commands.get(key).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
      throw error;
    });
  }

  #open(keys: number): Batch {
    if (this.#batch !== undefined && this.#batch.keys.length + keys <= maxKeys) return this.#batch;
    const batch = new Batch();
    this.#batch = batch;
    const send = (): void => this.#send(batch);
    // Tags alone are requested by hits whose values arrived in one reply.
    if (this.#together === 'all') setImmediate(send);
    else queueMicrotask(send);
    return batch;
  }

  #send(batch: Batch): void {
    if (this.#batch === batch) this.#batch = undefined;
    const together = this.#together;
    const { keys } = batch;
    const reject = (error: unknown): void => {
      for (const each of batch.waiters) each.reject(error);
      for (const each of batch.rejecters) each(error);
    };
    const resolveAll: Resolve = (values) => {
      // Without a value for each key, some callers would wait forever.
      if (!Array.isArray(values) || values.length !== keys.length)
        return reject(new Error('The response to MGET is not a list with a value for each key'));
      // Versions of tags first: they were requested first, and decide on the values.
      for (const each of batch.resolvers) each(values);
      for (const { place, resolve } of batch.waiters) resolve(values[place]!);
    };
    const readEach = (error: unknown): void => {
      if (!(error instanceof Error && isRefused.test(error.message))) return reject(error);
      // Other commands may have been in flight; only the first refusal counts.
      if (this.#together === together) this.#together = together === 'all' ? 'tags' : 'none';
      resolveAll(keys.map((key) => this.#getText(key)));
    };
    try {
      this.#commands.requireReady();
      this.#commands.mget(keys).then(resolveAll, readEach);
    } catch (error) {
      reject(error);
    }
  }
}

function isRead(values: readonly (Value | Promise<Value>)[]): values is Value[] {
  return values.every((value) => !(value instanceof Promise));
}
