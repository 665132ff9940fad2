import type { ServerResponse } from 'node:http';

interface Begun {
  atMs: number;
  turn: number;
  micros: number | undefined;
}

/**
 * How long a request takes from its early end until everything it called has been left: part of every cut, and different
 * for each. It happens in one go, so the clock on the wall is as good as that of the processor, and finer. A request that
 * waits on its way out, say for a ROLLBACK, says nothing.
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

  /** The last word of a request counts. */
  end(response: ServerResponse): void {
    const begun = this.#begun.get(response);
    if (begun === undefined || begun.turn !== this.#turn) return;
    begun.micros = (performance.now() - begun.atMs) * 1_000;
  }

  /** The median, undefined when most requests never said that they had left. */
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
