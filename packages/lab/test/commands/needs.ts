import { availableParallelism } from 'node:os';
import { findOnPath } from '@redline/services';

/** What tests of the load pass as `skip`. */
export const needsWrk: string | false =
  findOnPath('wrk') === undefined ? 'there is no wrk on PATH' : false;

export const needsTurns: string | false =
  needsWrk ||
  (['taskset', 'chrt'].some((name) => findOnPath(name) === undefined) && 'no taskset or chrt') ||
  (availableParallelism() < 2 && 'one core takes turns anyway');
