import { serversOf } from '../wire/servers.ts';
import { LostWire, Wire } from '../wire/wire.ts';
import { CacheError } from '../errors.ts';
import type { RedisCommands } from './redis-client.ts';

/** A connection that is silent for so long, although it was asked, counts as lost. */
const silenceMs = 1_000;

/**
 * Reads over a connection of the store's own, which has no other work: the parser, the buffers and the queue of a client that
 * can do everything take a third of a hit. While it is not there, the client reads.
 */
export class ReadConnection {
  readonly #wire: Wire;
  readonly #client: RedisCommands;

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the client is not one of a single server. */
  constructor(client: object, commands: RedisCommands) {
    const who = 'redisStore with readConnection';
    const servers = serversOf(client, { who, otherwise: 'leave out readConnection' });
    if (servers.isCluster)
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'redisStore cannot read a Cluster over one connection: leave out readConnection, or use tieredStore, which has one to each master.',
      );
    this.#client = commands;
    this.#wire = new Wire(servers.address('')!, { silenceMs });
  }

  /** The commands of the client, of which those that read a turn's keys take this way. */
  get commands(): RedisCommands {
    return { ...this.#client, batches: true, mget: (keys) => this.#mget(keys) };
  }

  close(): void {
    this.#wire.close();
  }

  #mget(keys: string[]): Promise<(string | null)[]> {
    if (!this.#wire.isReady) return this.#client.mget(keys);
    const { keyPrefix } = this.#client;
    const full = keyPrefix === '' ? keys : keys.map((key) => keyPrefix + key);
    const values = this.#wire.sendNow('MGET', ...full) as Promise<(string | null)[]>;
    return values.catch((error: unknown) => {
      if (error instanceof LostWire) return this.#client.mget(keys);
      throw error;
    });
  }
}
