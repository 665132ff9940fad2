import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  type AddressInfo,
  createServer,
  type Server as ControlServer,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import type { Pinning } from '../system/pinning.ts';
import { choosePorts } from '../servers/ports.ts';
import { Server } from '../servers/server.ts';
import {
  type CrashReport,
  environmentName,
  type FromServer,
  type PreloadSettings,
  type ToServer,
  whole,
} from './preload/protocol.ts';
import type { StairsTarget } from './target.ts';

/** Time between the first connection its port accepts and the first message of the preload. */
const helloTimeoutMs = 5_000;

type Reply<Type> = Extract<FromServer, { type: Type }>;

/** A server started with the preload, and the connection to it. */
export class Session implements AsyncDisposable {
  readonly server: Server;
  /** Id of the process that listens: a command such as npm starts it as a child. */
  pid = 0;
  node = '';
  hasThreadClock = true;
  readonly #control: ControlServer;
  readonly #folder: string;
  readonly #crashFile: string;
  #socket: Socket | undefined;
  readonly #waiting: { type: string; resolve: (message: FromServer) => void }[] = [];
  readonly #unread: FromServer[] = [];
  #onRound: ((message: Reply<'round'>) => void) | undefined;

  private constructor(server: Server, control: ControlServer, folder: string, crashFile: string) {
    this.server = server;
    this.#control = control;
    this.#folder = folder;
    this.#crashFile = crashFile;
    control.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN, ERR_REDLINE_STAIRS */
  static async start(
    target: StairsTarget,
    how: Pick<PreloadSettings, 'phase' | 'stages' | 'guards' | 'followsAsync'>,
    {
      env,
      pinning,
      signal,
    }: { env: Record<string, string>; pinning: Pinning; signal: AbortSignal },
  ): Promise<Session> {
    const control = createServer().listen(0, '127.0.0.1');
    await once(control, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'redline-stairs-'));
    const crashFile = join(folder, 'crash.json');
    const [port] = (await choosePorts([target.variant])) as [number];
    const settings: PreloadSettings = {
      ...how,
      controlPort: (control.address() as AddressInfo).port,
      listenPort: port,
      crashFile,
      ...(target.redirectFrom === undefined ? {} : { redirectFrom: target.redirectFrom }),
    };
    const variant = {
      ...target.variant,
      env: { ...target.variant.env, ...preloaded(target, env, settings) },
    };
    const server = new Server(variant, target.variant.name, { port, env, pinning, folder });
    const session = new Session(server, control, folder, crashFile);
    try {
      await server.ready(target.readyTimeoutMs, signal);
      await session.#hello();
      return session;
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  say(message: ToServer): void {
    this.#socket!.write(`${JSON.stringify(message)}\n`);
  }

  async ask<Type extends FromServer['type']>(message: ToServer, type: Type): Promise<Reply<Type>> {
    this.say(message);
    return this.expect(type);
  }

  /**
   * Waits for the next message of a type.
   * @throws {LabError} if the server ends before that
   */
  async expect<Type extends FromServer['type']>(type: Type): Promise<Reply<Type>> {
    const early = this.#unread.findIndex((message) => message.type === type);
    if (early >= 0) return this.#unread.splice(early, 1)[0] as Reply<Type>;
    const arrived = new Promise<FromServer>((resolve) => this.#waiting.push({ type, resolve }));
    const ended = this.#ended();
    const message = await Promise.race([arrived, ended.promise]);
    ended.cancel();
    if (message === undefined) throw await this.crash();
    return message as Reply<Type>;
  }

  /** Runs rounds of slices to completion. */
  async rotate(
    rounds: number[][],
    slice: {
      guardMs: number;
      countedMs: number;
      timesEndings: boolean;
      countsMemory: boolean;
    },
    onRound: (message: Reply<'round'>) => void,
  ): Promise<void> {
    this.#onRound = onRound;
    try {
      await this.ask({ type: 'slices', rounds, ...slice }, 'done');
    } finally {
      this.#onRound = undefined;
    }
  }

  /** Reads the report that the server wrote if it ended prematurely. */
  crashReport(): CrashReport | undefined {
    if (!existsSync(this.#crashFile)) return undefined;
    return JSON.parse(readFileSync(this.#crashFile, 'utf8')) as CrashReport;
  }

  async crash(): Promise<LabError> {
    // The connection may close a moment before the process exits.
    for (let tries = 0; tries < 40 && !this.server.hasEnded; tries++) await sleep(25);
    const report = this.crashReport();
    if (report !== undefined && report.cut < whole) {
      const [what] = report.message.split('\n');
      const message = `the app crashed when requests ended there: ${what}`;
      return new FatalCut({ cut: report.cut, message });
    }
    return this.server.failure('ended while it was measured');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket?.destroy();
    this.#control.close();
    await this.server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #accept(socket: Socket): void {
    // npm and npx run the server as a child: only the listening process connects, and only once.
    this.#socket = socket;
    socket.on('error', () => {});
    const lines = createInterface({ input: socket });
    // readline forwards the socket's errors.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const message = JSON.parse(line) as FromServer;
      if (message.type === 'round' && this.#onRound) return this.#onRound(message);
      const index = this.#waiting.findIndex(({ type }) => type === message.type);
      if (index < 0) this.#unread.push(message);
      else this.#waiting.splice(index, 1)[0]!.resolve(message);
    });
  }

  async #hello(): Promise<void> {
    const late = sleep(helloTimeoutMs, undefined, { ref: false });
    const hello = await Promise.race([this.expect('hello'), late]);
    if (hello === undefined) {
      throw new LabError(
        'ERR_REDLINE_STAIRS',
        `"${this.server.name}" listens on port ${this.server.port}, but not through node:http of Node 22.15 or newer: its stages cannot be cut.`,
      );
    }
    this.pid = hello.pid;
    this.node = hello.node;
    this.hasThreadClock = hello.hasThreadClock;
  }

  #ended(): { promise: Promise<undefined>; cancel: () => void } {
    const polling = new AbortController();
    const poll = async (): Promise<undefined> => {
      while (!this.server.hasEnded) await sleep(50, undefined, { signal: polling.signal });
    };
    return {
      promise: poll().catch(() => new Promise<undefined>(() => {})),
      cancel: () => polling.abort(),
    };
  }
}

export interface CutReport {
  cut: number;
  message: string;
}

/** Thrown if the app fails when requests end at one of its stages: it is started again without that cut. */
export class FatalCut extends LabError {
  readonly report: CutReport;

  constructor(report: CutReport) {
    super('ERR_REDLINE_STAIRS', report.message);
    this.report = report;
  }
}

function preloaded(
  { variant }: StairsTarget,
  env: Record<string, string>,
  settings: PreloadSettings,
): Record<string, string> {
  const before = variant.env['NODE_OPTIONS'] ?? env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  const preload = new URL('./preload/preload.js', import.meta.url).href;
  return {
    NODE_OPTIONS: `${before === undefined ? '' : `${before} `}--import=${preload}`,
    [environmentName]: JSON.stringify(settings),
  };
}
