import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { encodeFrames, FrameDecoder } from './frames.ts';
import { kind, type Kind, type Message, type Value } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { ResolvedPoolOptions } from './options.ts';
import type { LinkListener, WorkerLink } from './worker-link.ts';

/** Max bytes of the first frame: the secret, as JSON. */
const greetingBytes = 256;

/**
 * One Unix socket per worker, in a folder accessible only to this user: the kernel rejects all other users, which it would
 * not do for an abstract name. The secret in the first frame distinguishes the worker from other programs of this user.
 */
export class SocketLink implements WorkerLink {
  readonly process: ChildProcess;
  readonly #listener: LinkListener;
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'redline-pool-'));
  readonly #secret: string = randomBytes(32).toString('hex');
  readonly #server: Server;
  readonly #outbox = new Outbox((batch) => this.#deliver(batch));
  readonly #candidates = new Set<Socket>();
  /** The socket of the candidate with the right secret. */
  #socket: Socket | undefined;
  #early: Message[] = [];
  #isRef = true;
  #isDown = false;

  constructor({ runtime, workerFile }: ResolvedPoolOptions, listener: LinkListener) {
    this.#listener = listener;
    const address = join(this.#folder, 'worker');
    this.#server = createServer((candidate) => this.#greet(candidate)).listen(address);
    this.process = nodeChildProcess.spawn(runtime.path, [workerFile], {
      stdio: 'inherit',
      detached: true,
      env: {
        ...process.env,
        REDLINE_POOL_ADDRESS: address,
        REDLINE_POOL_SECRET: this.#secret,
      },
    });
    this.#server.on('error', (error) => {
      this.process.kill('SIGKILL');
      this.#down(error);
    });
    this.process.on('error', (error) => this.#down(error));
    this.process.on('exit', () => {
      // Before the child connects, only its exit can report this: the socket does not exist yet.
      if (this.#socket === undefined) this.#down();
    });
  }

  post(frameKind: Kind, id: number, value?: Value): void {
    this.#outbox.post(frameKind, id, value);
  }

  setRef(wanted: boolean): void {
    this.#isRef = wanted;
    const verb = wanted ? 'ref' : 'unref';
    this.process[verb]();
    this.#server[verb]();
    this.#socket?.[verb]();
  }

  end(): void {
    if (this.#socket === undefined) this.process.kill('SIGKILL');
    else this.#socket.end();
  }

  /** Reads the first frame of a new connection, and further frames if it is the worker. */
  #greet(candidate: Socket): void {
    this.#candidates.add(candidate);
    candidate.on('close', () => this.#candidates.delete(candidate));
    const decoder = new FrameDecoder((frameKind, id, value) => {
      if (this.#socket === candidate) return this.#listener.onMessage(frameKind, id, value);
      const isWorker = frameKind === kind.ready && value === this.#secret;
      if (this.#socket !== undefined || !isWorker) return void candidate.destroy();
      decoder.limit = Infinity;
      this.#adopt(candidate);
      this.#listener.onMessage(frameKind, id, undefined);
    }, greetingBytes);
    candidate.on('data', (chunk) => {
      try {
        decoder.write(chunk);
      } catch {
        // Not a frame: another program connected.
        candidate.destroy();
      }
    });
    candidate.on('error', () => {});
  }

  #adopt(socket: Socket): void {
    this.#socket = socket;
    if (!this.#isRef) socket.unref();
    this.#stopListening();
    socket.on('close', () => this.#down());
    const early = this.#early;
    this.#early = [];
    this.#deliver(early);
  }

  #deliver(batch: Message[]): void {
    const socket = this.#socket;
    if (socket === undefined) {
      this.#early.push(...batch);
      return;
    }
    if (socket.destroyed) return;
    socket.cork();
    for (const piece of encodeFrames(batch)) socket.write(piece);
    socket.uncork();
  }

  #down(cause?: Error): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#stopListening();
    this.#socket?.destroy();
    this.#listener.onDown(cause);
  }

  #stopListening(): void {
    this.#server.close();
    for (const candidate of this.#candidates) if (candidate !== this.#socket) candidate.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
