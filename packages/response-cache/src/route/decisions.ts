import { checkTtl } from './check-policy.ts';
import { checkTags } from '../validate/check-values.ts';
import { refuseUnknown } from '../validate/known-options.ts';
import type { CacheRequest } from './cached-route.ts';

/** Decisions of a handler about the response it makes, in addition to its policy. */
export interface CacheDecision {
  /** Lifetime of the response, in milliseconds; with 0 it is not stored. */
  ttl?: number;
  /** Additional tags, on a route whose policy has `tags`. */
  tags?: readonly string[];
}

const decisions = new WeakMap<object, CacheDecision>();

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function decide(request: object, decision: CacheDecision): void {
  refuseUnknown('decide', decision, { ttl: true, tags: true });
  if (decision.ttl !== 0) checkTtl(decision.ttl);
  checkTags('decide', decision.tags);
  decisions.set(request, { ...decisions.get(request), ...decision });
}

export function decisionOn(request: CacheRequest): CacheDecision | undefined {
  return decisions.get(request);
}
