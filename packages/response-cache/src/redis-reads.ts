import type { RedisCommands } from './redis-client.ts';

/* The client's user may not call it, or a proxy does not know it. */
const isRefused = /^(?:NOPERM|ERR unknown command)/;

interface Batch {
  readonly places: Map<string, number>;
  readonly values: Promise<readonly Value[]>;
}

/** A promise where each key has to be read by itself. */
type Value = string | null | Promise<string | null>;

/**
 * Reads what is wanted in one turn of the event loop with one command: for the client a command costs more than a key, and
 * nothing is read before everybody who is told of it has asked.
 *
 * A key that holds something other than text counts as none.
 */
export class RedisReads {
  readonly #commands: RedisCommands;
  #batch: Batch | undefined;
  #isRefused = false;

  constructor(commands: RedisCommands) {
    this.#commands = commands;
  }

  get(key: string): Promise<string | null> {
    if (!this.#commands.batches || this.#isRefused) return this.#commands.get(key);
    const { places, values } = this.#open();
    const place = placeOf(key, places);
    return values.then((all) => all[place]!);
  }

  /** Of one slot of a Cluster. */
  getMany(keys: readonly string[]): Promise<(string | null)[]> {
    const { places, values } = this.#open();
    const own = keys.map((key) => placeOf(key, places));
    return values.then((all) => {
      const found = own.map((place) => all[place]!);
      return this.#isRefused ? Promise.all(found) : (found as (string | null)[]);
    });
  }

  #open(): Batch {
    return (this.#batch ??= this.#start());
  }

  #start(): Batch {
    const places = new Map<string, number>();
    const { promise, resolve } = Promise.withResolvers<readonly Value[]>();
    const send = (): void => {
      this.#batch = undefined;
      resolve(this.#read([...places.keys()]));
    };
    // Without batches these are keys of tags alone, and the commands of this turn leave before the next phase of the loop.
    if (this.#commands.batches) setImmediate(send);
    else queueMicrotask(send);
    return { places, values: promise };
  }

  async #read(keys: string[]): Promise<readonly Value[]> {
    this.#commands.requireReady();
    try {
      return await this.#commands.mget(keys);
    } catch (error) {
      if (!(error instanceof Error && isRefused.test(error.message))) throw error;
      this.#isRefused = true;
      return keys.map((key) => this.#commands.get(key));
    }
  }
}

function placeOf(key: string, places: Map<string, number>): number {
  const known = places.get(key);
  if (known !== undefined) return known;
  const place = places.size;
  places.set(key, place);
  return place;
}
