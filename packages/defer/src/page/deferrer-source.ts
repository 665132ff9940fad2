import type { Deferrer } from '../deferrer.ts';
import type { SinkStats } from '../sink-queue/sink-stats.ts';
import { journalsIn } from './directory-source.ts';
import type { PageSource, SinkRow } from './snapshot.ts';

/** Page source for a running deferrer in the same process. */
export function deferrerSource(deferrer: Deferrer, title: string): PageSource {
  const { deadLetters, keys, options } = deferrer;
  const directory = options.journal?.directory;
  return {
    title,
    async read() {
      const { sinks } = deferrer.stats();
      return {
        sinks: sinks.map(rowOf),
        jobs: sinks.flatMap(({ name, jobs }) => jobs.map((job) => ({ ...job, sink: name }))),
        journals: directory === undefined ? [] : await journalsIn(directory, keys),
        letters: await deadLetters.list(),
        unreadable: await deadLetters.unreadable(),
      };
    },
    async requeue(which) {
      if (!('id' in which)) return deadLetters.requeueAll(which);
      return (await deadLetters.requeue(which.id)) ? 1 : 0;
    },
    async remove(which) {
      if ('id' in which) return (await deadLetters.remove(which.id)) ? 1 : 0;
      let removed = 0;
      for (const { record } of await deadLetters.list()) {
        if (record.job !== which.job || record.sink !== which.sink) continue;
        if (await deadLetters.remove(record.id)) removed++;
      }
      return removed;
    },
  };
}

function rowOf({ dropped, ...stats }: SinkStats): SinkRow {
  return { ...stats, dropped: Object.values(dropped).reduce((sum, count) => sum + count, 0) };
}
