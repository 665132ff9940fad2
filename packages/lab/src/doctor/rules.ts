import { agentWithoutKeepAlive } from './rules/agent-without-keep-alive.ts';
import { awaitedQueue } from './rules/awaited-queue.ts';
import { cacheWithoutSingleFlight } from './rules/cache-without-single-flight.ts';
import { cachedJsonParsed } from './rules/cached-json-parsed.ts';
import { clientPerRequest } from './rules/client-per-request.ts';
import { compressionTwice } from './rules/compression-twice.ts';
import { consoleOnRequest } from './rules/console-on-request.ts';
import { everyRequestLogged } from './rules/every-request-logged.ts';
import { keyvPrefixTwice } from './rules/keyv-prefix-twice.ts';
import { loggerAsMiddleware } from './rules/logger-as-middleware.ts';
import { mapBeforeSlice } from './rules/map-before-slice.ts';
import { nestOnExpress } from './rules/nest-on-express.ts';
import { nodeHttp } from './rules/node-http.ts';
import { oldNode } from './rules/old-node.ts';
import { prettyInProduction } from './rules/pretty-in-production.ts';
import { processPerRequest } from './rules/process-per-request.ts';
import { productionStart } from './rules/production-start.ts';
import { redisWithoutPipelining } from './rules/redis-without-pipelining.ts';
import { requestLogsMissing } from './rules/request-logs-missing.ts';
import { intlPerCall } from './rules/intl-per-call.ts';
import { jsonClone } from './rules/json-clone.ts';
import { listenerLeak } from './rules/listener-leak.ts';
import { nPlusOne } from './rules/n-plus-one.ts';
import { redisKeys } from './rules/redis-keys.ts';
import { regexpPerCall } from './rules/regexp-per-call.ts';
import { sequentialAwaits } from './rules/sequential-awaits.ts';
import type { Rule } from './rules/rule.ts';
import { superLinearRegexp } from './rules/super-linear-regexp.ts';
import { syncOnRequest } from './rules/sync-on-request.ts';

/** Order in which findings of equal weight are shown. */
export const rules: readonly Rule[] = [
  syncOnRequest,
  processPerRequest,
  nPlusOne,
  sequentialAwaits,
  redisKeys,
  clientPerRequest,
  intlPerCall,
  jsonClone,
  superLinearRegexp,
  regexpPerCall,
  listenerLeak,
  nestOnExpress,
  loggerAsMiddleware,
  requestLogsMissing,
  everyRequestLogged,
  cacheWithoutSingleFlight,
  cachedJsonParsed,
  redisWithoutPipelining,
  awaitedQueue,
  agentWithoutKeepAlive,
  compressionTwice,
  consoleOnRequest,
  mapBeforeSlice,
  prettyInProduction,
  keyvPrefixTwice,
  productionStart,
  oldNode,
  nodeHttp,
];
