export {
  answerOptions,
  cachedRoute,
  type CachedRoute,
  type CacheHeader,
  type CacheRequest,
  type Exchange,
  type KeyRules,
  type RouteDefaults,
} from './cached-route.ts';
export { EarlyAnswers } from './early.ts';
export { EngineOffers, type EngineAnswers } from './engine-store.ts';
export { expressResponses } from './express/express-responses.ts';
export { fastifyResponses } from './fastify/fastify-responses.ts';
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
export {
  checkPolicy,
  checkRouteDefaults,
  checkTtl,
  decide,
  type CacheDecision,
} from './check-policy.ts';
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
} from '../validate.ts';
export { renewalOf, renewalOptions } from './renewal.ts';
export { produce } from './run-handler.ts';
export { hooksOf } from './fastify/fastify-hooks.ts';
export { middlewareBefore } from './express/express-route.ts';
export { answerRoute, forgetRefused, madeKeyOf } from './answer-route.ts';
export { keyOf, keysOf, requestKey } from './key/request-key.ts';
export type { ResponsePort } from './response-port.ts';
export { dress } from './send-kept.ts';
