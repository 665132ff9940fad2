import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { type Endpoint, findEndpoint } from '../load/endpoint.ts';
import { choosePorts } from '../servers/ports.ts';
import { Server } from '../servers/server.ts';
import type { Pinning } from '../system/pinning.ts';
import { variantOf } from './app.ts';
import { chooseListener, type ChosenListener, isOperatorListener } from './choose-listener.ts';
import type { Preload } from './packages.ts';
import type { Listening, Sighting } from './preload/protocol.ts';

/** Wait for further listeners: an app may open its separate metrics port first. */
const othersWithinMs = 700;
/** The application's own listener may wait for a database first. */
const othersOfOperatorMs = 10_000;
const pollMs = 25;
/** The routes of an app are complete after this long without another sighting. */
const quietMs = 600;
const maxDiscoveryMs = 4_000;

export interface TrialOptions {
  app: PlannedVariant;
  env: Record<string, string>;
  pinning: Pinning;
  folder: string;
  readyTimeoutMs: number;
  signal: AbortSignal;
}

/** One start of the app with the scout in it, before anything is measured. */
export class Trial implements AsyncDisposable {
  readonly server: Server;
  readonly #file: string;
  readonly #startedAt = performance.now();
  /** Time from its start until it listens. */
  startMs = 0;
  #stopped: Promise<void> | undefined;

  private constructor(server: Server, file: string) {
    this.server = server;
    this.#file = file;
  }

  /**
   * @param how.main The port the app always uses, once it is known.
   * @throws {LabError} ERR_REDLINE_SERVER when it ends, ERR_REDLINE_TRY when no Node server listens in time
   */
  static async start(
    { app, env, pinning, folder, readyTimeoutMs, signal }: TrialOptions,
    {
      name,
      preloads,
      main,
    }: { name: string; preloads: readonly Preload[]; main?: number | string },
  ): Promise<Trial> {
    const [port] = (await choosePorts([{ ...app, port: undefined }])) as [number];
    const file = join(folder, `sightings-${port}`);
    const engine = preloads.find((each) => each.name === '@redline/http')?.index;
    const variant = variantOf(app, name, preloads, {
      file,
      ...(main === undefined ? {} : { main }),
      ...(engine === undefined ? {} : { engine }),
    });
    const trial = new Trial(new Server(variant, name, { port, env, pinning, folder }), file);
    try {
      await trial.#untilListening(readyTimeoutMs, signal);
      trial.server.requireOwn();
      await trial.server.locate();
      return trial;
    } catch (error) {
      await trial[Symbol.asyncDispose]();
      throw error;
    }
  }

  get listeners(): Listening[] {
    const all = this.#sightings().filter((each) => each.type === 'listening');
    // Workers of a cluster share one listener.
    return [...new Map(all.map((each) => [`${each.asked} ${each.port}`, each])).values()];
  }

  get childrenStarted(): number {
    return this.#sightings().filter((each) => each.type === 'child').length;
  }

  /** Returns the server to send requests to, as far as it is known before any request. */
  main(wanted?: number): Listening | undefined {
    return this.choose(wanted).main;
  }

  choose(wanted?: number): ChosenListener {
    return chooseListener(this.listeners, { wanted, own: this.server.port });
  }

  /** Waits until no new listener or route has appeared for a moment. */
  async untilNoNewRoutes(signal: AbortSignal): Promise<void> {
    const until = Date.now() + maxDiscoveryMs;
    let [count, since] = [this.#sightings().length, Date.now()];
    while (Date.now() - since < quietMs && Date.now() < until && !this.server.hasEnded) {
      await sleep(pollMs, undefined, { signal });
      const now = this.#sightings().length;
      if (now !== count) [count, since] = [now, Date.now()];
    }
  }

  /** Returns the address of a listener. */
  async endpoint({ port }: Listening): Promise<Endpoint> {
    const found = await findEndpoint(port, this.server.host);
    if (found !== undefined) return { ...found, session: this.server.session };
    await this.server.ended(pollMs);
    throw await this.server.failure(
      this.server.hasEnded
        ? `ended after it had opened port ${port}`
        : `listens on port ${port}, but at no loopback address`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped ??= this.server.stop();
    await this.#stopped;
  }

  async #untilListening(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (this.main() === undefined) {
      signal.throwIfAborted();
      if (this.server.hasEnded) {
        throw await this.server.failure('did not start: it exited');
      }
      if (Date.now() > deadline) {
        const { message } = await this.server.failure(
          `opened no HTTP server within ${timeoutMs / 1_000} s; it must be a program of Node that NODE_OPTIONS reaches, and listen on a TCP port`,
        );
        throw new LabError('ERR_REDLINE_TRY', message);
      }
      await sleep(pollMs);
    }
    this.startMs = performance.now() - this.#startedAt;
    const since = Date.now();
    const isOver = (): boolean => {
      const patience = isOperatorListener(this.main()!) ? othersOfOperatorMs : othersWithinMs;
      return this.main()!.port === this.server.port || Date.now() - since > patience;
    };
    while (!isOver() && !this.server.hasEnded) {
      signal.throwIfAborted();
      await sleep(pollMs);
    }
  }

  #sightings(): Sighting[] {
    if (!existsSync(this.#file)) return [];
    // The last line may be incomplete.
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Sighting);
  }
}
