import type { Deferrer } from '../deferrer.ts';
import type { Lane } from '../lane/lane.ts';
import { journalsIn } from './directory-source.ts';
import type { PageSource, SinkRow } from './snapshot.ts';

/** A running deferrer, seen from its own process. */
export function deferrerSource(deferrer: Deferrer, title: string): PageSource {
  const { deadLetters, options } = deferrer;
  return {
    title,
    async read() {
      const lanes = [...deferrer.lanes.values(), deferrer.afterLane];
      return {
        sinks: lanes.map(rowOf),
        journals: options.journal === undefined ? [] : await journalsIn(options.journal.directory),
        letters: await deadLetters.list(),
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

function rowOf(lane: Lane): SinkRow {
  const { name, depth, loaded, isBreakerOpen, oldestAtMs, stats, options } = lane;
  return {
    name,
    kind: options.sink.kind,
    isUnavailable: isBreakerOpen,
    depth,
    loaded,
    oldestAtMs,
    sent: stats.sent,
    retried: stats.retried,
    dead: stats.dead,
    dropped: Object.values(stats.dropped).reduce((sum, count) => sum + count, 0),
  };
}
