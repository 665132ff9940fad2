// One trial: lives of an app under load, each ended by kill -9, and then the search for each acknowledged job.
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppSettings } from '../app.ts';
import { kill, Load, startApp, type RunningApp } from '../kill-trials.ts';

/** A sink whose contents are read. */
export interface Target {
  readonly sink: AppSettings['sink'];
  /** The number of arrivals of each job. */
  received(): Promise<ReadonlyMap<string, number>>;
}

export interface RoundSettings extends Pick<
  AppSettings,
  'level' | 'platform' | 'seal' | 'replayWindowMs'
> {
  readonly directory: string;
  readonly target: Target;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Missing jobs are lost after so many milliseconds without another arrival. */
  readonly patienceMs: number;
  /** Goes on until so many jobs are acknowledged. */
  readonly jobs: number;
}

export interface Verdict {
  readonly acknowledged: number;
  readonly refused: number;
  readonly lost: readonly string[];
  /** Jobs that arrived more than once. */
  readonly again: number;
  readonly lives: number;
}

const connections = 16;
/** The sinks must keep up on two cores. */
const paceMs = 8;
const segmentBytes = 64 << 10;

export class Round {
  readonly settings: RoundSettings;
  #lives = 0;
  #refused = 0;
  readonly #acknowledged = new Set<string>();

  constructor(settings: RoundSettings) {
    this.settings = settings;
    mkdirSync(settings.directory, { recursive: true });
  }

  get isOver(): boolean {
    return this.#acknowledged.size >= this.settings.jobs;
  }

  /** Runs the app under load for as long as `work` takes, and ends it with kill -9. */
  async live(
    work: (app: RunningApp, load: Load) => Promise<void>,
    env: NodeJS.ProcessEnv = {},
  ): Promise<void> {
    this.settings.signal.throwIfAborted();
    const app = await this.#start(env);
    const load = new Load(app.url, connections, paceMs);
    try {
      await work(app, load);
    } finally {
      await kill(app);
      await load.stop();
      this.#lives++;
      this.#refused += load.refused;
      for (const id of load.acknowledged) this.#acknowledged.add(id);
    }
  }

  /** Between `minMs` and `maxMs` milliseconds. */
  pause(minMs: number, maxMs: number): Promise<void> {
    const { random, signal } = this.settings;
    return sleep(minMs + random() * (maxMs - minMs), undefined, { signal });
  }

  /** Runs the app a last time, with all servers well and without load, until everything has arrived. */
  async judge(): Promise<Verdict> {
    const { patienceMs, target, signal } = this.settings;
    const app = await this.#start({});
    try {
      let missing: string[] = [];
      let times: ReadonlyMap<string, number> = new Map();
      let progressAtMs = performance.now();
      let fewestMissing = Infinity;
      do {
        signal.throwIfAborted();
        // A server that has just started may refuse to be read.
        times = await target.received().catch(() => times);
        missing = [...this.#acknowledged].filter((id) => !times.has(id));
        if (missing.length < fewestMissing) {
          fewestMissing = missing.length;
          progressAtMs = performance.now();
        }
        if (missing.length > 0) await sleep(200, undefined, { signal });
      } while (missing.length > 0 && performance.now() - progressAtMs < patienceMs);
      return {
        acknowledged: this.#acknowledged.size,
        refused: this.#refused,
        lost: missing,
        again: [...times.values()].filter((each) => each > 1).length,
        lives: this.#lives,
      };
    } finally {
      await kill(app);
    }
  }

  async #start(env: NodeJS.ProcessEnv): Promise<RunningApp> {
    const { directory, level, platform, seal, replayWindowMs, target } = this.settings;
    const app = await startApp(
      {
        directory,
        level,
        segmentBytes,
        sink: target.sink,
        ...(platform && { platform }),
        ...(seal !== undefined && { seal }),
        ...(replayWindowMs !== undefined && { replayWindowMs }),
      },
      undefined,
      env,
    );
    if (app === undefined) throw new Error('The app ended before it listened.');
    return app;
  }
}
