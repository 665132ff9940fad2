import { createRequire } from 'node:module';
import type { ExchangeObserver } from '@redline/http';

interface EngineHttp {
  observeExchanges?(observer: ExchangeObserver): () => void;
}

/**
 * Observes the requests that the engine of `@redline/http` serves in this thread, now or later: importing that package opens
 * no engine.
 *
 * @returns ends it, or the reason why no engine can serve: one clause
 */
export function observeEngine(observer: ExchangeObserver): (() => void) | string {
  if (process.env['REDLINE_HTTP'] === 'node') return 'REDLINE_HTTP=node is set';
  if (process.platform !== 'linux') return 'the engine of @redline/http is for Linux';
  let http: EngineHttp;
  try {
    http = createRequire(import.meta.url)('@redline/http') as EngineHttp;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'MODULE_NOT_FOUND' ? '@redline/http is not installed' : message;
  }
  if (http.observeExchanges === undefined) return '@redline/http is of another release';
  return http.observeExchanges(observer);
}
