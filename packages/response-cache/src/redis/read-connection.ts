import { serversOf } from '../wire/servers.ts';
import { Wires } from '../wire/wires.ts';
import { CacheError } from '../errors.ts';
import type { RedisCommands } from './redis-client.ts';

/** A connection that is silent for so long, although it was asked, counts as lost. */
const silenceMs = 1_000;

/**
 * Reads over a connection of the store's own: a client's command queue, general parser and buffers are a fifth of a hit. While
 * the connection is not ready, the client reads.
 */
export class ReadConnection {
  readonly #wires: Wires;
  readonly #client: RedisCommands;
  /** The last read that was sent, while it has no reply. */
  #last: Promise<void> | undefined;

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the client is a Cluster, or does not say where its server is. */
  constructor(client: object, commands: RedisCommands, onRefused: (reason: string) => void) {
    const who = 'redisStore with readConnection';
    const servers = serversOf(client, { who, otherwise: 'leave out readConnection' });
    if (servers.isCluster)
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'redisStore cannot read a Cluster over one connection: leave out readConnection, or use tieredStore, which has one to each master.',
      );
    this.#client = commands;
    this.#wires = new Wires(servers, silenceMs, { onRefused });
  }

  /** The commands of the client, of which those that read a turn's keys take this way. */
  get commands(): RedisCommands {
    return { ...this.#client, batches: true, mget: (keys) => this.#mget(keys) };
  }

  close(): void {
    this.#wires.close();
  }

  /**
   * Resolves once every read sent before has its reply. Replies to the client come on another connection, in no order with
   * these, and a caller that finds nothing must still find the production that was under way when it asked.
   */
  async repliedTo(): Promise<void> {
    const last = this.#last;
    await last;
    // By then the callers have looked.
    if (last !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }

  async #mget(keys: string[]): Promise<(string | null)[]> {
    const wire = this.#wires.to('');
    if (wire === undefined) return this.#client.mget(keys);
    const { keyPrefix } = this.#client;
    const full = keyPrefix === '' ? keys : keys.map((key) => keyPrefix + key);
    const reply = wire.sendNow('MGET', ...full);
    const over = reply.then(ignore, ignore).finally(() => {
      if (this.#last === over) this.#last = undefined;
    });
    this.#last = over;
    try {
      const values = await reply;
      if (isReplyTo(full, values)) return values;
      wire.drop();
    } catch {
      // The client has a connection of its own, and reports what is wrong with that.
    }
    return this.#client.mget(keys);
  }
}

/** Anything else is the reply to another command, or was made up by a proxy. */
function isReplyTo(keys: readonly string[], values: unknown): values is (string | null)[] {
  return (
    Array.isArray(values) &&
    values.length === keys.length &&
    values.every((value) => value === null || typeof value === 'string')
  );
}

function ignore(): void {}
