import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import { readOrEmpty } from '../system/cpu-clock.ts';
import type { ClosedLoop } from './closed-loop.ts';
import { untilSignalIsCaught } from './wrk.ts';
import { wrkCommand, type WrkCommand } from './wrk-command.ts';
import { endChild, startChild } from '../system/guardian.ts';

/** Time after which wrk has opened its connections. */
const connectMs = 100;

/**
 * A wrk process that is stopped between slices. Its connections stay open and nothing has to start, so a slice can be as short as a
 * few batches of requests. The number of requests sent is read from the system: wrk writes each request, or all it sends at a time,
 * with one call.
 */
export class HeldLoad {
  readonly #child: ChildProcess;
  readonly #script: WrkCommand['script'];
  readonly #pipeline: number;

  private constructor(child: ChildProcess, script: WrkCommand['script'], pipeline: number) {
    this.#child = child;
    this.#script = script;
    this.#pipeline = pipeline;
  }

  /** @throws {LabError} ERR_REDLINE_LOAD when wrk does not keep running */
  static async start(load: Omit<ClosedLoop, 'durationMs'>): Promise<HeldLoad> {
    const { program, args, script } = wrkCommand(load, 1);
    const child = startChild((mark) =>
      spawn(program, args, { stdio: 'ignore', detached: true, env: { ...process.env, ...mark } }),
    );
    child.on('error', () => {});
    const held = new HeldLoad(child, script, load.pipeline);
    try {
      await untilSignalIsCaught('SIGINT', child.pid!, load.signal);
      await sleep(connectMs, undefined, { signal: load.signal });
      held.#say('SIGSTOP');
      return held;
    } catch (error) {
      await held.stop();
      throw error;
    }
  }

  /** Requests sent since it was started. */
  get sent(): number {
    const calls = /^syscw: (\d+)$/m.exec(readOrEmpty(`/proc/${this.#child.pid}/io`))?.[1];
    if (calls === undefined) {
      throw new LabError(
        'ERR_REDLINE_LOAD',
        'The load process that takes turns with the server exited.',
      );
    }
    return Number(calls) * this.#pipeline;
  }

  /** Sends for this long. Responses to the requests in flight are then still pending. */
  async run(ms: number, signal: AbortSignal): Promise<void> {
    this.#say('SIGCONT');
    await sleep(ms, undefined, { signal });
    this.#say('SIGSTOP');
  }

  async stop(): Promise<void> {
    await endChild(this.#child);
    if (this.#script) rmSync(this.#script.folder, { recursive: true, force: true });
  }

  #say(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }
}
