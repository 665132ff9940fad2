import { type Kind, kind, type Message, type Value } from './messages.ts';

/** Length of the body (u32), kind (u8), id (u32); then the body: bytes, or JSON. Little endian. */
const headBytes = 9;

export function encodeFrames(batch: readonly Message[]): Uint8Array[] {
  return batch.flatMap(([frameKind, id, value]) => {
    const body = value instanceof Uint8Array ? value : encodeJson(value);
    const head = Buffer.allocUnsafe(headBytes);
    head.writeUInt32LE(body.length, 0);
    head.writeUInt8(frameKind, 4);
    head.writeUInt32LE(id, 5);
    // Small frames are sent in one piece: each piece takes an iovec.
    if (body.length < 4_096) return [Buffer.concat([head, body])];
    return [head, body];
  });
}

/** Assembles frames from chunks with arbitrary boundaries. */
export class FrameDecoder {
  /** Max bytes of a frame's body. */
  limit: number;
  #chunks: Buffer[] = [];
  #length = 0;
  readonly #onMessage: (kind: Kind, id: number, value: Value) => void;

  constructor(onMessage: (kind: Kind, id: number, value: Value) => void, limit: number = Infinity) {
    this.limit = limit;
    this.#onMessage = onMessage;
  }

  /** @throws {RangeError} if a frame exceeds the limit @throws {SyntaxError} if it contains invalid JSON */
  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= headBytes) {
      const head = this.#peek(headBytes);
      const length = head.readUInt32LE(0);
      if (length > this.limit) throw new RangeError(`A frame of ${length} bytes is too long.`);
      const total = headBytes + length;
      if (this.#length < total) return;
      const frame = this.#take(total);
      const frameKind = frame.readUInt8(4) as Kind;
      const body = frame.subarray(headBytes);
      this.#onMessage(
        frameKind,
        frame.readUInt32LE(5),
        carriesBytes(frameKind) ? body : decodeJson(body),
      );
    }
  }

  #peek(count: number): Buffer {
    const first = this.#chunks[0]!;
    return first.length >= count ? first : this.#gather();
  }

  #take(count: number): Buffer {
    const whole = this.#peek(count);
    const rest = whole.subarray(count);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#length -= count;
    return whole.subarray(0, count);
  }

  #gather(): Buffer {
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}

function carriesBytes(frameKind: Kind): boolean {
  return frameKind === kind.stdin || frameKind === kind.stdout || frameKind === kind.stderr;
}

function encodeJson(value: Value): Uint8Array {
  return value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value));
}

function decodeJson(body: Buffer): Value {
  return body.length === 0 ? undefined : JSON.parse(body.toString());
}
