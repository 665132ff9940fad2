import type { Socket } from 'node:net';
import type { RingWriter } from '../native/ring-writer.ts';
import { now } from '../native/clock.ts';
import { KIND } from '../native/wire.ts';

/** A connection of Node's own server, numbered as those of the engine are. */
export interface NodeConnection {
  readonly slot: number;
  readonly generation: number;
  /** The number of its next request. */
  next: number;
}

/** Numbers the connections of Node's servers of this thread, and writes PEER and CLOSE of each. */
export class NodeConnections {
  readonly #writer: RingWriter;
  readonly #known = new WeakMap<Socket, NodeConnection>();
  /** The next generation of each slot. */
  readonly #generations: number[] = [];
  readonly #free: number[] = [];

  constructor(writer: RingWriter) {
    this.#writer = writer;
  }

  of(socket: Socket): NodeConnection {
    return this.#known.get(socket) ?? this.#add(socket);
  }

  #add(socket: Socket): NodeConnection {
    const slot = this.#free.pop() ?? this.#generations.length;
    const generation = this.#generations[slot] ?? 0;
    this.#generations[slot] = (generation + 1) >>> 0;
    const connection = { slot, generation, next: 0 };
    this.#known.set(socket, connection);
    this.#writePeer(connection, socket);
    socket.once('close', () => this.#writeClose(connection));
    return connection;
  }

  #writePeer({ slot, generation }: NodeConnection, socket: Socket): void {
    const writer = this.#writer;
    const address = Buffer.from(socket.remoteAddress ?? '');
    do {
      writer.start(KIND.PEER);
      writer.word(slot);
      writer.word(generation);
      writer.word(socket.remotePort ?? 0);
      writer.bytes(address);
    } while (writer.finish());
  }

  #writeClose({ slot, generation }: NodeConnection): void {
    const writer = this.#writer;
    do {
      writer.start(KIND.CLOSE);
      writer.word(slot);
      writer.word(generation);
      writer.time(now());
      writer.word(0);
    } while (writer.finish());
    this.#free.push(slot);
  }
}
