import { asyncDelay } from './checks/async.ts';
import { baseline } from './checks/baseline.ts';
import { json } from './checks/json.ts';
import { pipelined } from './checks/pipelined.ts';
import type { Check } from './check.ts';

export const checks: readonly Check[] = [...baseline, ...pipelined, ...asyncDelay, ...json];

/** Profiles of the board with a check here. */
export const checkedProfiles = new Set(checks.flatMap(({ profiles }) => profiles));

/** The board rejects an entry with a profile that it does not know. */
export const profilesOfTheBoard: ReadonlySet<string> = new Set(
  [
    'baseline pipelined limited-conn async latency-1m latency-10k',
    'json-comp json-tls 8gbit static-tls async-db fortunes',
    'baseline-h2 static-h2 baseline-h2c json-h2c baseline-h3 static-h3',
    'unary-grpc unary-grpc-tls gateway-64 gateway-h3 production-stack',
    'echo-ws echo-ws-pipeline echo-ws-limited',
  ].flatMap((names) => names.split(' ')),
);
