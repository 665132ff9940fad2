import { connect as connectPlain, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { CacheError } from '../errors.ts';
import { RedisError, RespReader, type RespValue } from './resp-reader.ts';
import type { ServerAddress } from './server-address.ts';

export interface ConnectionListener {
  /** Called with the keys that changed; undefined for all keys. */
  onInvalidated(keys: readonly string[] | undefined): void;
  /** Called when invalidations begin to be missed. Called once for each `onReady`. */
  onLost(): void;
}

export interface ConnectionOptions {
  /** A connection that leaves a command without a reply for this many milliseconds counts as lost. */
  readonly silenceMs: number;
  /** Receives the read keys that have changed; without a listener Redis need not remember them. */
  readonly listener?: ConnectionListener;
  readonly isInCluster?: boolean;
  /** Called with the reason why the server refuses the connection, or a command it needs: usually a missing permission. */
  readonly onRefused?: (reason: string) => void;
}

interface Pending {
  resolve(value: RespValue): void;
  reject(error: Error): void;
}

const checkEveryMs = 250;
/** Size in bytes of the one buffer for all reads; otherwise Node allocates one for every read. */
const pieceLength = 64 * 1024;
const retryAfterMs = [50, 100, 250, 500, 1_000, 2_000];

/**
 * A connection of our own to one Redis. With a listener it reports which of the keys it has read have changed (client-side
 * caching): reads and invalidations share it, so that they have one order. After a reply, all earlier invalidations are known.
 */
export class RedisConnection {
  isReady = false;

  readonly #address: ServerAddress;
  readonly #silenceMs: number;
  readonly #listener: ConnectionListener | undefined;
  readonly #isInCluster: boolean;
  readonly #onRefused: ((reason: string) => void) | undefined;
  #socket: Socket | undefined;
  #pending: Pending[] = [];
  #out = '';
  #heardAt = 0;
  #isAsking = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    address: ServerAddress,
    { silenceMs, listener, isInCluster = false, onRefused }: ConnectionOptions,
  ) {
    this.#isInCluster = isInCluster;
    this.#onRefused = onRefused;
    this.#address = address;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    this.#connect();
  }

  /**
   * Returns the reply of Redis. Calls of one turn of the event loop are sent together.
   *
   * @throws {ConnectionLostError}
   */
  send(...command: string[]): Promise<RespValue> {
    if (!this.isReady) return Promise.reject(new ConnectionLostError());
    return this.#write(command);
  }

  /**
   * Same as `send`, but at once: for callers that batch the commands of a turn themselves.
   *
   * @throws {ConnectionLostError}
   */
  sendNow(...command: string[]): Promise<RespValue> {
    const reply = this.send(...command);
    this.#flush();
    return reply;
  }

  /** Closes a connection whose replies are wrong; a new one is opened. */
  reset(): void {
    this.#socket?.destroy();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #connect(): void {
    const { tls, ...where } = this.#address.socket;
    const options = { ...where, onread: this.#onRead() };
    const socket = tls === undefined ? connectPlain(options) : connectTls({ ...options, ...tls });
    this.#socket = socket;
    socket.setNoDelay(true);
    // Unreferenced: the caller's client decides how long the process lives.
    socket.unref();
    socket.on('error', () => {});
    socket.on('close', () => this.#lose());
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      this.#greet().then(
        () => this.#start(socket),
        (error: unknown) => {
          this.#refused(error);
          socket.destroy();
        },
      );
    });
    this.#heardAt = performance.now();
    this.#watch();
  }

  #onRead(): OnReadOpts {
    const reader = new RespReader({
      onReply: (value) => this.#reply(value),
      onPush: (message) => this.#push(message),
    });
    return {
      buffer: Buffer.allocUnsafeSlow(pieceLength),
      callback: (length, memory) => {
        this.#heardAt = performance.now();
        try {
          reader.read((memory as Buffer).subarray(0, length));
        } catch {
          this.#socket?.destroy();
        }
        return true;
      },
    };
  }

  async #greet(): Promise<void> {
    const { username, password, database } = this.#address;
    const auth = password === undefined ? [] : ['AUTH', username ?? 'default', password];
    const greetings = [this.#write(['HELLO', '3', ...auth])];
    if (database !== 0) greetings.push(this.#write(['SELECT', String(database)]));
    // Not NOLOOP: it silently removes a key that we change ourselves from the tracking table.
    if (this.#listener !== undefined) greetings.push(this.#write(['CLIENT', 'TRACKING', 'ON']));
    // Repeated later on each check: without the permission for it, a demoted server would go unnoticed.
    greetings.push(this.#write(['ROLE']));
    await Promise.all(greetings);
  }

  #start(socket: Socket): void {
    if (socket.destroyed) return;
    this.isReady = true;
    this.#failures = 0;
  }

  #write(command: readonly string[]): Promise<RespValue> {
    if (this.#out === '') setImmediate(() => this.#flush());
    this.#out += encode(command);
    return new Promise((resolve, reject) => void this.#pending.push({ resolve, reject }));
  }

  #flush(): void {
    const out = this.#out;
    this.#out = '';
    if (out !== '') this.#socket?.write(out);
  }

  #reply(value: RespValue): void {
    const pending = this.#pending.shift();
    if (value instanceof RedisError) pending?.reject(value);
    else pending?.resolve(value);
  }

  #push([kind, keys]: RespValue[]): void {
    if (kind === 'invalidate')
      this.#listener?.onInvalidated(keys === null ? undefined : (keys as string[]));
  }

  /* A half-open connection reports no changes, so it is checked regularly. */
  #watch(): void {
    this.#timer = setTimeout(
      () => {
        if (performance.now() - this.#heardAt >= this.#silenceMs) {
          this.#socket?.destroy();
          return;
        }
        if (this.isReady && !this.#isAsking) this.#ask();
        this.#watch();
      },
      Math.min(checkEveryMs, this.#silenceMs / 4),
    );
    this.#timer.unref();
  }

  #ask(): void {
    this.#isAsking = true;
    const answered = (): void => void (this.#isAsking = false);
    this.#askRole().then(answered, (error: unknown) => {
      answered();
      if (!(error instanceof RedisError)) return;
      this.#refused(error);
      this.#socket?.destroy();
    });
  }

  #refused(error: unknown): void {
    if (error instanceof RedisError) this.#onRefused?.(error.message);
  }

  /* A server that was demoted, or is cut off from its Cluster, still replies, but does not learn of changes. */
  async #askRole(): Promise<void> {
    const [role, info] = await Promise.all([
      this.#write(['ROLE']),
      this.#isInCluster && this.#write(['CLUSTER', 'INFO']),
    ]);
    const isMaster = Array.isArray(role) && role[0] === 'master';
    const isIn = !this.#isInCluster || String(info).includes('cluster_state:ok');
    if (!isMaster || !isIn) this.#socket?.destroy();
  }

  #lose(): void {
    clearTimeout(this.#timer);
    const wasReady = this.isReady;
    this.isReady = false;
    this.#out = '';
    const pending = this.#pending;
    this.#pending = [];
    if (wasReady) this.#listener?.onLost();
    for (const { reject } of pending) reject(new ConnectionLostError());
    if (this.#isClosed) return;
    const delayMs = retryAfterMs[Math.min(this.#failures, retryAfterMs.length - 1)]!;
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#connect(), delayMs);
    this.#timer.unref();
  }
}

/* One call for all lengths: for ASCII, which keys usually are, the lengths in bytes are those of the texts. */
function encode(command: readonly string[]): string {
  const encoded = encodeWith(command, (part) => part.length);
  if (Buffer.byteLength(encoded) === encoded.length) return encoded;
  return encodeWith(command, (part) => Buffer.byteLength(part));
}

function encodeWith(command: readonly string[], lengthOf: (part: string) => number): string {
  let encoded = `*${command.length}\r\n`;
  for (const part of command) encoded += `$${lengthOf(part)}\r\n${part}\r\n`;
  return encoded;
}

/** The connection was lost, which says nothing about the state of Redis. */
export class ConnectionLostError extends CacheError {
  constructor() {
    super('ERR_REDLINE_CACHE_STORE_NOT_READY', 'The connection for invalidations was lost.');
  }
}
