import type { Journal } from '../journal/journal.ts';
import { Backlog } from './backlog.ts';

/** A queue's jobs that are only on disk, in the journal of this process and in those it has adopted. */
export class Backlogs {
  readonly #sink: string;
  readonly #replayed: (jobs: number) => void;
  readonly #backlogs: Backlog[] = [];
  /** Current lifetime of the sink's server, if it reports one. */
  #generation: string | undefined;
  #seenAtMs = 0;

  constructor(sink: string, replayed: (jobs: number) => void) {
    this.#sink = sink;
    this.#replayed = replayed;
  }

  /** Jobs that wait in all of them. */
  get waiting(): number {
    let waiting = 0;
    for (const backlog of this.#backlogs) waiting += backlog.waiting;
    return waiting;
  }

  /** Jobs in segments that are currently unreadable. */
  get stuck(): number {
    let stuck = 0;
    for (const backlog of this.#backlogs) stuck += backlog.stuck;
    return stuck;
  }

  retryStuck(): void {
    for (const backlog of this.#backlogs) backlog.retryStuck();
  }

  /** True if the sink's server may come back with less than it had acknowledged, and would report it. */
  get hasGeneration(): boolean {
    return this.#generation !== undefined;
  }

  [Symbol.iterator](): Iterator<Backlog> {
    return this.#backlogs.values();
  }

  of(journal: Journal): Backlog | undefined {
    return this.#backlogs.find((backlog) => backlog.journal === journal);
  }

  attach(journal: Journal): void {
    const backlog = new Backlog(journal, this.#sink);
    journal.watch(this.#sink);
    this.#backlogs.push(backlog);
    if (this.#generation !== undefined) this.#replayWhereOld(backlog, this.#generation);
  }

  detach(journal: Journal): void {
    const at = this.#backlogs.findIndex((backlog) => backlog.journal === journal);
    if (at !== -1) this.#backlogs.splice(at, 1);
  }

  /** Returns the backlog to read from: those of other processes first, in the order in which they began. */
  oldest(): Backlog | undefined {
    let own: Backlog | undefined;
    for (const backlog of this.#backlogs) {
      if (backlog.waiting === 0) continue;
      if (backlog.journal.isAdopted) return backlog;
      own = backlog;
    }
    return own;
  }

  /** Current lifetime of the sink's server, if it reports one, and the time it was last seen. */
  get life(): { readonly generation: string; readonly seenAtMs: number } | undefined {
    if (this.#generation === undefined) return undefined;
    return { generation: this.#generation, seenAtMs: this.#seenAtMs };
  }

  /** Called when the sink's server has responded. */
  seeAlive(now: number): void {
    this.#seenAtMs = now;
    for (const { journal } of this.#backlogs) journal.seeAlive(this.#sink, now);
  }

  seeGeneration(generation: string, now: number): void {
    if (this.#generation === generation) return this.seeAlive(now);
    this.#generation = generation;
    for (const backlog of this.#backlogs) this.#replayWhereOld(backlog, generation);
    this.seeAlive(now);
  }

  /* This lifetime of the server may lack what its last one acknowledged. */
  #replayWhereOld(backlog: Backlog, generation: string): void {
    const { journal } = backlog;
    const { generations } = journal;
    const last = generations[this.#sink];
    generations[this.#sink] = generation;
    if (last === undefined || last === generation) return;
    const replayed = journal.replay(this.#sink);
    if (replayed === 0) return;
    backlog.replayed(replayed);
    this.#replayed(replayed);
  }
}
