import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Kind,
  type Post,
  type Value,
  decodeBatch,
  encodeBatch,
  type Serialization,
  Outbox,
  kind,
  type Message,
} from './messages.ts';
import type { ResolvedPoolOptions } from './options.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { ownEngine } from './runtime.ts';
import { setTimeout } from '../node/timers.ts';
import { encodeFrames, FrameDecoder } from './frames.ts';

/** A worker process and the connection to it, for any transport. */
export interface WorkerLink {
  readonly process: ChildProcess;
  post: Post;
  /** Sets if the worker keeps this process alive. */
  setRef(isRef: boolean): void;
  /** Closes the connection; the worker then exits by itself. */
  end(): void;
}

export interface LinkListener {
  onMessage(kind: Kind, id: number, value: Value): void;
  /** Called once, after the last message. */
  onDown(cause?: Error): void;
}

export function openLink(options: ResolvedPoolOptions, listener: LinkListener): WorkerLink {
  return options.transport === 'send'
    ? openSendLink(options, listener)
    : new SocketLink(options, listener);
}

/** 'disconnect' follows 'exit' immediately; if a runtime omits it, the children must not wait forever. */
const disconnectGraceMs = 1_000;

function openSendLink(
  { runtime, workerFile }: ResolvedPoolOptions,
  listener: LinkListener,
): WorkerLink {
  const serialization: Serialization = runtime.engine === ownEngine ? 'advanced' : 'json';
  const child = nodeChildProcess.fork(workerFile, {
    execPath: runtime.path,
    execArgv: [],
    serialization,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Its own process group, so that all its children can be killed with it, whenever and however it ends.
    detached: true,
    env: { ...process.env, REDLINE_POOL_SERIALIZATION: serialization },
  });
  let isDown = false;
  const down = (cause?: Error): void => {
    if (isDown) return;
    isDown = true;
    listener.onDown(cause);
  };
  child.on('message', (batch) => decodeBatch(batch, listener.onMessage));
  // Not 'exit': messages in transit may still be read after it.
  child.on('disconnect', () => down());
  child.on('exit', () => setTimeout(down, disconnectGraceMs));
  child.on('error', (error) => {
    if (child.pid === undefined || !child.connected) down(error);
  });
  const outbox = new Outbox((batch) => {
    // 'disconnect' reports a worker that is gone; the callback prevents an additional 'error'.
    if (child.connected) child.send(encodeBatch(batch, serialization), () => {});
  });
  return {
    process: child,
    post: (...message) => outbox.post(...message),
    setRef(isRef) {
      const verb = isRef ? 'ref' : 'unref';
      child[verb]();
      child.channel?.[verb]?.();
    },
    end() {
      if (child.connected) child.disconnect();
    },
  };
}

/** Max bytes of the first frame: the secret, as JSON. */
const greetingBytes = 256;

/**
 * One Unix socket per worker, in a folder accessible only to this user: the kernel rejects all other users, which it would
 * not do for an abstract name. The secret in the first frame distinguishes the worker from other programs of this user.
 */
class SocketLink implements WorkerLink {
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
