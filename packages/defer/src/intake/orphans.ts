import type { Journal } from '../journal/journal.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { listSinks, type ResolvedOptions } from '../options.ts';

/** Journals of exited processes: their jobs go to the sinks with the same names here. */
export class Orphans {
  readonly #queues: ReadonlyMap<string, SinkQueue>;
  readonly #logger: ResolvedOptions['logger'];
  readonly #unclaimed = new Set<string>();

  constructor(queues: ReadonlyMap<string, SinkQueue>, logger: ResolvedOptions['logger']) {
    this.#queues = queues;
    this.#logger = logger;
  }

  adopt(journal: Journal): void {
    for (const name of journal.sinks) {
      const queue = this.#queues.get(name);
      if (queue !== undefined) queue.attach(journal);
      else if (!this.#unclaimed.has(name)) {
        this.#unclaimed.add(name);
        this.#logger.warn(
          `defer: ${journal.folder} has jobs for the sink "${name}", which is not configured; they stay on disk. Configured: ${listSinks(this.#queues)}.`,
        );
      }
    }
  }

  /** Called when a journal has no jobs left. */
  release(journal: Journal): void {
    for (const queue of this.#queues.values()) queue.detach(journal);
  }
}
