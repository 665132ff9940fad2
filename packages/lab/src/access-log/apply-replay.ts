import { resolve } from 'node:path';
import type { RequestOptions } from '../config/request-options.ts';
import type { Plan } from '../config/resolve-plan.ts';
import { readReplayList, requireLog } from './replay-list.ts';

/**
 * Replaces the requests of a plan by those of an access log, if the plan or the command line names one. A log has no headers: those
 * of the plan's first request are sent with every request.
 * @param options `replay` wins over `load.replay` of the config.
 * @returns warnings for the reader, one sentence each
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG, ERR_REDLINE_OPTION
 */
export async function applyReplay(
  plans: readonly Plan[],
  { replay, route }: Pick<RequestOptions, 'replay' | 'route'>,
  signal: AbortSignal,
): Promise<string[]> {
  const warnings = new Set<string>();
  for (const plan of plans) {
    const log = replay === undefined ? plan.replay?.file : resolve(replay);
    requireLog(log, route);
    if (log === undefined) continue;
    const list = await readReplayList(log, signal, { route });
    const first = plan.requests[0]!;
    const ownTitle = `${plan.name}, ${first.method} ${first.path}`;
    plan.requests = list.requests.map((request) => ({ ...request, headers: first.headers }));
    plan.requestLabel = list.label;
    if (plan.title === ownTitle) plan.title = `${plan.name}, ${plan.requestLabel}`;
    const rate = plan.replay?.rate;
    if (rate !== undefined && list.recordedRps !== undefined) {
      plan.openLoopRps = Math.max(1, list.recordedRps * rate);
    }
    for (const warning of list.warnings) warnings.add(warning);
  }
  return [...warnings];
}
