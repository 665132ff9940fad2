import type { Plan } from '../config/resolve-plan.ts';
import type { HeapApp } from './app.ts';
import { findSites } from './find-sites.ts';
import { minGrowth } from './growth.ts';
import { type HeapSettings, measureGrowth } from './measure-heap.ts';
import type { HeapResult } from './result.ts';
import { Sender } from './sender.ts';
import { track } from './track.ts';

export type HeapFound = Pick<
  HeapResult,
  'readings' | 'growth' | 'verdict' | 'load' | 'sites' | 'explained' | 'cost' | 'warnings'
>;

const firstRequests = 40;
const recordedMs = 4_000;
const minRecordedRequests = 60;
const maxRecordedRequests = 400;
/** Min share of the growth to be found in objects: the rest may be V8's code and feedback. */
const minExplainedShare = 0.25;

/** Measures the growth of memory; if there is any, finds the lines that keep it. */
export async function findGrowth(
  app: HeapApp,
  plan: Plan,
  settings: HeapSettings,
): Promise<HeapFound> {
  await using sender = new Sender(app, plan, settings.signal);
  const measured = await measureGrowth(app, sender, settings);
  const { readings, growth, warnings } = measured;
  const steady: Omit<HeapFound, 'load' | 'cost'> = {
    readings,
    growth,
    warnings,
    verdict: 'steady',
    sites: [],
  };
  if (!measured.grows) return { ...steady, load: measured.load, cost: measured.cost };
  const recorded = await record(app, sender, settings.phase);
  const load = { ...measured.load, recorded: recorded.requests };
  const cost = { ...measured.cost, ...recorded.cost };
  const { sites, stayed } = recorded;
  const explained = stayed / growth.held.value;
  if (stayed < minGrowth || explained < minExplainedShare) {
    return {
      ...steady,
      load,
      cost,
      warnings: [
        ...warnings,
        'Memory grew, but no objects that stay were found: V8 was still compiling, or memory outside of its heap grew. A longer --warmup or more --rounds can tell them apart.',
      ],
    };
  }
  return { readings, growth, warnings, verdict: 'grows', sites, explained, load, cost };
}

interface Recorded {
  requests: number;
  sites: HeapResult['sites'];
  stayed: number;
  cost: Pick<HeapResult['cost'], 'snapshotMs' | 'snapshotBytes'>;
}

/** Sends fewer requests: with every allocation recorded, they are several times as slow. */
async function record(
  app: HeapApp,
  sender: Sender,
  phase: HeapSettings['phase'],
): Promise<Recorded> {
  let requests = minRecordedRequests;
  phase('recording allocations');
  const { graph, boundaries, ...cost } = await track(
    app.inspector,
    [
      async () => {
        const { perSecond } = await sender.send(firstRequests);
        const inTime = Math.round((perSecond * recordedMs) / 1_000);
        requests = Math.max(minRecordedRequests, Math.min(maxRecordedRequests, inTime));
      },
      ...Array.from({ length: 3 }, () => async () => void (await sender.send(requests))),
    ],
    () => phase('taking a heap snapshot'),
  );
  phase('finding what stays');
  return { requests, cost, ...(await findSites(app, { graph, boundaries }, requests)) };
}
