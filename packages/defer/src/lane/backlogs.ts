import type { Journal } from '../journal/journal.ts';
import { Backlog } from './backlog.ts';

/** What a lane has on disk alone, in the journal of this process and in those it has adopted. */
export class Backlogs {
  readonly #lane: string;
  readonly #replayed: (jobs: number) => void;
  readonly #backlogs: Backlog[] = [];
  /** Which life of the sink's server this is, where it says so. */
  #generation: string | undefined;
  #seenAtMs = 0;

  constructor(lane: string, replayed: (jobs: number) => void) {
    this.#lane = lane;
    this.#replayed = replayed;
  }

  /** Jobs that wait in all of them. */
  get waiting(): number {
    let waiting = 0;
    for (const backlog of this.#backlogs) waiting += backlog.waiting;
    return waiting;
  }

  /** Jobs in segments that cannot be read for now. */
  get stuck(): number {
    let stuck = 0;
    for (const backlog of this.#backlogs) stuck += backlog.stuck;
    return stuck;
  }

  retryStuck(): void {
    for (const backlog of this.#backlogs) backlog.retryStuck();
  }

  /** True where the sink's server can come back with less than it had acknowledged, and would say so. */
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
    const backlog = new Backlog(journal, this.#lane);
    journal.watch(this.#lane);
    this.#backlogs.push(backlog);
    if (this.#generation !== undefined) this.#replayWhereOld(backlog, this.#generation);
  }

  detach(journal: Journal): void {
    const at = this.#backlogs.findIndex((backlog) => backlog.journal === journal);
    if (at !== -1) this.#backlogs.splice(at, 1);
  }

  /** The one to read from: what other processes left goes first, in the order they began in. */
  oldest(): Backlog | undefined {
    let own: Backlog | undefined;
    for (const backlog of this.#backlogs) {
      if (backlog.waiting === 0) continue;
      if (backlog.journal.isAdopted) return backlog;
      own = backlog;
    }
    return own;
  }

  /** Which life of the sink's server this is, where it says so, and when it was last seen. */
  get life(): { readonly generation: string; readonly seenAtMs: number } | undefined {
    if (this.#generation === undefined) return undefined;
    return { generation: this.#generation, seenAtMs: this.#seenAtMs };
  }

  /** The sink's server has answered. */
  seeAlive(now: number): void {
    this.#seenAtMs = now;
    for (const { journal } of this.#backlogs) journal.seeAlive(this.#lane, now);
  }

  seeGeneration(generation: string, now: number): void {
    if (this.#generation === generation) return this.seeAlive(now);
    this.#generation = generation;
    for (const backlog of this.#backlogs) this.#replayWhereOld(backlog, generation);
    this.seeAlive(now);
  }

  /* What the server's last life acknowledged, this one may not have. */
  #replayWhereOld(backlog: Backlog, generation: string): void {
    const { journal } = backlog;
    const { generations } = journal;
    const last = generations[this.#lane];
    generations[this.#lane] = generation;
    if (last === undefined || last === generation) return;
    const replayed = journal.replay(this.#lane);
    if (replayed === 0) return;
    backlog.replayed(replayed);
    this.#replayed(replayed);
  }
}
