import { serversOf } from '../wire/servers.ts';
import { RedisConnections } from '../wire/redis-connections.ts';
import { CacheError } from '../errors.ts';
import type { RedisCommands } from './redis-client.ts';

/** A connection that leaves a command without a reply for this long counts as lost. */
const silenceMs = 1_000;

/**
 * Reads over the store's own connection: a client's command queue, general parser and buffers take a fifth of a hit. While the
 * connection is not ready, the client reads.
 */
export class ReadConnection {
  readonly #connections: RedisConnections;
  readonly #client: RedisCommands;
  /** The last read that was sent, until its reply arrives. */
  #last: Promise<void> | undefined;

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the client is a Cluster, or does not expose the address of its server. */
  constructor(client: object, commands: RedisCommands, onRefused: (reason: string) => void) {
    const who = 'redisStore with readConnection';
    const servers = serversOf(client, { who, otherwise: 'leave out readConnection' });
    if (servers.isCluster)
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'redisStore cannot read a Cluster over one connection: leave out readConnection, or use tieredStore, which has one to each master.',
      );
    this.#client = commands;
    this.#connections = new RedisConnections(servers, silenceMs, { onRefused });
  }

  /** The commands of the client, with the reads of a turn's keys over this connection. */
  get commands(): RedisCommands {
    return { ...this.#client, batches: true, mget: (keys) => this.#mget(keys) };
  }

  close(): void {
    this.#connections.close();
  }

  /**
   * Resolves once every read sent before has its reply. Replies to the client arrive on another connection, in no fixed order
   * relative to these, and a caller that finds nothing must still find the run that was pending when it asked.
   */
  async repliedTo(): Promise<void> {
    const last = this.#last;
    await last;
    // One turn later, the callers have looked for the run.
    if (last !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }

  async #mget(keys: string[]): Promise<(string | null)[]> {
    const connection = this.#connections.connectionFor('');
    if (connection === undefined) return this.#client.mget(keys);
    const { keyPrefix } = this.#client;
    const full = keyPrefix === '' ? keys : keys.map((key) => keyPrefix + key);
    const reply = connection.sendNow('MGET', ...full);
    const over = reply.then(ignore, ignore).finally(() => {
      if (this.#last === over) this.#last = undefined;
    });
    this.#last = over;
    try {
      const values = await reply;
      if (isReplyTo(full, values)) return values;
      connection.reset();
    } catch {
      // The client has its own connection, and reports the faults of that.
    }
    return this.#client.mget(keys);
  }
}

/** Rejects any other value: it is the reply to another command, or was made up by a proxy. */
function isReplyTo(keys: readonly string[], values: unknown): values is (string | null)[] {
  return (
    Array.isArray(values) &&
    values.length === keys.length &&
    values.every((value) => value === null || typeof value === 'string')
  );
}

function ignore(): void {}
