import { agentWithoutKeepAlive } from './rules/http/agent-without-keep-alive.ts';
import { awaitedQueue } from './rules/data/awaited-queue.ts';
import { cacheWithoutSingleFlight } from './rules/caching/cache-without-single-flight.ts';
import { cachedJsonParsed } from './rules/caching/cached-json-parsed.ts';
import { clientPerRequest } from './rules/http/client-per-request.ts';
import { compressionTwice } from './rules/http/compression-twice.ts';
import { consoleOnRequest } from './rules/logging/console-on-request.ts';
import { everyRequestLogged } from './rules/logging/every-request-logged.ts';
import { keyvPrefixTwice } from './rules/caching/keyv-prefix-twice.ts';
import { loggerAsMiddleware } from './rules/logging/logger-as-middleware.ts';
import { mapBeforeSlice } from './rules/map-before-slice.ts';
import { nestOnExpress } from './rules/http/nest-on-express.ts';
import { nodeHttp } from './rules/http/node-http.ts';
import { oldNode } from './rules/old-node.ts';
import { prettyInProduction } from './rules/logging/pretty-in-production.ts';
import { processPerRequest } from './rules/process-per-request.ts';
import { productionStart } from './rules/production-start.ts';
import { redisWithoutPipelining } from './rules/data/redis-without-pipelining.ts';
import { requestLogsMissing } from './rules/logging/request-logs-missing.ts';
import { intlPerCall } from './rules/intl-per-call.ts';
import { jsonClone } from './rules/json-clone.ts';
import { listenerLeak } from './rules/listener-leak.ts';
import { nPlusOne } from './rules/data/n-plus-one.ts';
import { redisKeys } from './rules/data/redis-keys.ts';
import { regexpPerCall } from './rules/regexp/regexp-per-call.ts';
import { sequentialAwaits } from './rules/data/sequential-awaits.ts';
import type { Rule } from './rules/rule.ts';
import { superLinearRegexp } from './rules/regexp/super-linear-regexp.ts';
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
