import { RedisError, type RespValue } from './resp-reader.ts';
import type { Servers } from './servers.ts';
import { LostWire, Wire, type WireListener, type WireOptions } from './wire.ts';

/* The server does not have the slot (any longer), or cannot say: the client finds the one that has it. */
const isElsewhere = /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN|LOADING|READONLY|MASTERDOWN) /;

/** A wire to each server that takes writes: one, the master of Sentinels, or the masters of a Cluster. */
export class Wires {
  readonly #servers: Servers;
  readonly #silenceMs: number;
  readonly #listener: WireListener | undefined;
  readonly #onRefused: ((reason: string) => void) | undefined;
  readonly #wires = new Map<string, Wire>();
  #isClosed = false;

  constructor(
    servers: Servers,
    silenceMs: number,
    { listener, onRefused }: Pick<WireOptions, 'listener' | 'onRefused'>,
  ) {
    this.#servers = servers;
    this.#onRefused = onRefused;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    this.#openAll();
  }

  /** Whether all servers tell what changes. */
  get areReady(): boolean {
    this.#openAll();
    return this.#wires.size > 0 && [...this.#wires.values()].every(({ isReady }) => isReady);
  }

  /** The wire to the server that has `key`; undefined while there is none. */
  to(key: string): Wire | undefined {
    const name = this.#servers.nameOf(key);
    if (name === undefined) return undefined;
    const wire = this.#wires.get(name);
    if (wire !== undefined) return wire.isReady ? wire : undefined;
    this.#openAll();
    return undefined;
  }

  /**
   * What the server that has `key` replies.
   *
   * @throws {LostWire} it is not to be reached, or no longer has `key`
   */
  async send(key: string, ...commands: string[][]): Promise<RespValue[]> {
    const wire = this.to(key);
    if (wire === undefined) throw new LostWire();
    try {
      return await Promise.all(commands.map((command) => wire.send(...command)));
    } catch (error) {
      if (error instanceof RedisError && isElsewhere.test(`${error.message} `))
        throw new LostWire();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const wire of this.#wires.values()) wire.close();
    this.#wires.clear();
  }

  #openAll(): void {
    if (this.#isClosed) return;
    const names = this.#servers.names();
    for (const name of names) {
      const address = this.#wires.has(name) ? undefined : this.#servers.address(name);
      if (address === undefined) continue;
      const [silenceMs, listener, onRefused] = [this.#silenceMs, this.#listener, this.#onRefused];
      const { isCluster: isInCluster } = this.#servers;
      const options = {
        silenceMs,
        isInCluster,
        ...(listener && { listener }),
        ...(onRefused && { onRefused }),
      };
      this.#wires.set(name, new Wire(address, options));
    }
    // What was read over a wire is known to be true for as long as that is open.
    for (const [name, wire] of this.#wires) {
      if (names.includes(name)) continue;
      this.#wires.delete(name);
      wire.close();
    }
  }
}
