import type { ServerResponse } from 'node:http';

interface Begun {
  atMs: number;
  turn: number;
  micros: number | undefined;
}

/**
 * Measures the time from the early end of a request until all functions it called have returned: part of every cut, and different
 * for each. It happens synchronously, so wall-clock time is as good as CPU time, and finer. A request that waits while unwinding,
 * e.g. for a ROLLBACK, is not counted.
 */
export class EndingTimes {
  readonly #begun = new Map<ServerResponse, Begun>();
  #turn = 0;
  #turning: NodeJS.Immediate;

  constructor() {
    const next = (): void => {
      this.#turn++;
      this.#turning = setImmediate(next);
    };
    this.#turning = setImmediate(next);
  }

  begin(response: ServerResponse): void {
    this.#begun.set(response, { atMs: performance.now(), turn: this.#turn, micros: undefined });
  }

  /** Records the end of a request; its last report counts. */
  end(response: ServerResponse): void {
    const begun = this.#begun.get(response);
    if (begun === undefined || begun.turn !== this.#turn) return;
    begun.micros = (performance.now() - begun.atMs) * 1_000;
  }

  /** Returns the median; undefined if most requests did not report their end. */
  take(): number | undefined {
    const all = [...this.#begun.values()].map(({ micros }) => micros);
    this.#begun.clear();
    const known = all.filter((micros) => micros !== undefined).toSorted((a, b) => a - b);
    return known.length > all.length / 2 ? known[Math.floor(known.length / 2)] : undefined;
  }

  stop(): void {
    clearImmediate(this.#turning);
  }
}
