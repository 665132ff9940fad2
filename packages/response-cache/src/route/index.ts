export {
  answerOptions,
  cachedRoute,
  type CachedRoute,
  type CacheHeader,
  type CacheRequest,
  type KeyRules,
  type RouteDefaults,
} from './cached-route.ts';
export { decide, type CacheDecision } from './decisions.ts';
export { EarlyAnswers } from './early.ts';
export { EngineOffers, type EngineAnswers } from './engine-store.ts';
export { expressResponses } from './express-responses.ts';
export { fastifyResponses } from './fastify-responses.ts';
export {
  engineOffers,
  hookObstacle,
  passesAll,
  placeLine,
  refuseGuards,
  requireTags,
  type Around,
  type Placement,
} from './hit-placement.ts';
export { checkPolicy, checkRouteDefaults, checkTtl } from './check-policy.ts';
export {
  aFunction,
  aLogger,
  anObject,
  aText,
  checkValues,
  isFunction,
  isListOf,
  wrongValue,
  type Check,
} from '../validate/check-values.ts';
export type { Exchange } from './exchange.ts';
export { renewalOf, renewalOptions } from './renewal.ts';
export { produce } from './run-handler.ts';
export { forgetRefused } from './refused-response.ts';
export { hooksOf } from './fastify-hooks.ts';
export { middlewareBefore } from './express-stack.ts';
export { answerRoute, madeKeyOf } from './answer-route.ts';
export { keyOf } from './key-parts.ts';
export { keysOf, requestKey } from './request-key.ts';
export type { ResponsePort } from './response-port.ts';
export { dress } from './send-kept.ts';
