import { basename, resolve } from 'node:path';
import type { Plan } from '../config/resolve-plan.ts';
import { fixed } from '../report/format.ts';
import { readReplayList } from './replay-list.ts';

/**
 * Puts the requests of an access log in the place of a plan's own, where the plan or the command line names one.
 * @param file From the command line; it wins over `load.replay` of the config.
 * @returns what a reader must know, one sentence each
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG
 */
export async function applyReplay(
  plans: readonly Plan[],
  file: string | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const warnings = new Set<string>();
  for (const plan of plans) {
    const log = file === undefined ? plan.replay?.file : resolve(file);
    if (log === undefined) continue;
    const list = await readReplayList(log, signal);
    const [first] = plan.requests;
    const ownTitle = `${plan.name}, ${first!.method} ${first!.path}`;
    plan.requests = list.requests;
    plan.requestLabel = `${fixed(list.requests.length)} requests of ${basename(log)}`;
    if (plan.title === ownTitle) plan.title = `${plan.name}, ${plan.requestLabel}`;
    const rate = plan.replay?.rate;
    if (rate !== undefined && list.recordedRps !== undefined) {
      plan.openLoopRps = Math.max(1, list.recordedRps * rate);
    }
    for (const warning of list.warnings) warnings.add(warning);
  }
  return [...warnings];
}
