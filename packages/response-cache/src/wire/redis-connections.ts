import { RedisError, type RespValue } from './resp-reader.ts';
import type { Servers } from './servers.ts';
import {
  ConnectionLostError,
  RedisConnection,
  type ConnectionListener,
  type ConnectionOptions,
} from './redis-connection.ts';

/* The server does not have the slot (any longer), or cannot tell: the client finds the one that has it. */
const isElsewhere = /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN|LOADING|READONLY|MASTERDOWN) /;

/** A connection to each server that takes writes: one, the master of Sentinels, or the masters of a Cluster. */
export class RedisConnections {
  readonly #servers: Servers;
  readonly #silenceMs: number;
  readonly #listener: ConnectionListener | undefined;
  readonly #onRefused: ((reason: string) => void) | undefined;
  readonly #connections = new Map<string, RedisConnection>();
  #isClosed = false;

  constructor(
    servers: Servers,
    silenceMs: number,
    { listener, onRefused }: Pick<ConnectionOptions, 'listener' | 'onRefused'>,
  ) {
    this.#servers = servers;
    this.#onRefused = onRefused;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    this.#openAll();
  }

  /** True if all servers report changes. */
  get areReady(): boolean {
    this.#openAll();
    return (
      this.#connections.size > 0 && [...this.#connections.values()].every(({ isReady }) => isReady)
    );
  }

  /** Returns the connection to the server that has `key`; undefined while it is missing or not ready. */
  connectionFor(key: string): RedisConnection | undefined {
    const name = this.#servers.nameOf(key);
    if (name === undefined) return undefined;
    const connection = this.#connections.get(name);
    if (connection !== undefined) return connection.isReady ? connection : undefined;
    this.#openAll();
    return undefined;
  }

  /**
   * Returns the replies of the server that has `key`.
   *
   * @throws {ConnectionLostError} it is unreachable, or no longer has `key`
   */
  async send(key: string, ...commands: string[][]): Promise<RespValue[]> {
    const connection = this.connectionFor(key);
    if (connection === undefined) throw new ConnectionLostError();
    try {
      return await Promise.all(commands.map((command) => connection.send(...command)));
    } catch (error) {
      if (error instanceof RedisError && isElsewhere.test(`${error.message} `))
        throw new ConnectionLostError();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  #openAll(): void {
    if (this.#isClosed) return;
    const names = this.#servers.names();
    for (const name of names) {
      const address = this.#connections.has(name) ? undefined : this.#servers.address(name);
      if (address === undefined) continue;
      const [silenceMs, listener, onRefused] = [this.#silenceMs, this.#listener, this.#onRefused];
      const { isCluster: isInCluster } = this.#servers;
      const options = {
        silenceMs,
        isInCluster,
        ...(listener && { listener }),
        ...(onRefused && { onRefused }),
      };
      this.#connections.set(name, new RedisConnection(address, options));
    }
    // Closed, because values read over a connection are known to be current only while that is open.
    for (const [name, connection] of this.#connections) {
      if (names.includes(name)) continue;
      this.#connections.delete(name);
      connection.close();
    }
  }
}
