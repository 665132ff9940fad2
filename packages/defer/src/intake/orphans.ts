import type { Journal } from '../journal/journal.ts';
import type { Lane } from '../lane/lane.ts';
import { listSinks, type ResolvedOptions } from '../options.ts';

/** Journals of exited processes: their jobs go to the sinks with the same names here. */
export class Orphans {
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #logger: ResolvedOptions['logger'];
  readonly #unclaimed = new Set<string>();

  constructor(lanes: ReadonlyMap<string, Lane>, logger: ResolvedOptions['logger']) {
    this.#lanes = lanes;
    this.#logger = logger;
  }

  adopt(journal: Journal): void {
    for (const name of journal.sinks) {
      const lane = this.#lanes.get(name);
      if (lane !== undefined) lane.attach(journal);
      else if (!this.#unclaimed.has(name)) {
        this.#unclaimed.add(name);
        this.#logger.warn(
          `defer: ${journal.folder} has jobs for the sink "${name}", which is not configured; they stay on disk. Configured: ${listSinks(this.#lanes)}.`,
        );
      }
    }
  }

  /** Nothing is left in it. */
  release(journal: Journal): void {
    for (const lane of this.#lanes.values()) lane.detach(journal);
  }
}
