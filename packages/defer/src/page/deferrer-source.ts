import type { Deferrer } from '../deferrer.ts';
import type { SinkStats } from '../lane/sink-stats.ts';
import { journalsIn } from './directory-source.ts';
import type { PageSource, SinkRow } from './snapshot.ts';

/** A running deferrer, seen from its own process. */
export function deferrerSource(deferrer: Deferrer, title: string): PageSource {
  const { deadLetters, options } = deferrer;
  return {
    title,
    async read() {
      const { sinks } = deferrer.stats();
      return {
        sinks: sinks.map(rowOf),
        jobs: sinks.flatMap(({ name, jobs }) => jobs.map((job) => ({ ...job, sink: name }))),
        journals: options.journal === undefined ? [] : await journalsIn(options.journal.directory),
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
