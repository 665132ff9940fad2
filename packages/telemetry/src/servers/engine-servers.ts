import { createRequire } from 'node:module';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An observer of the requests of `@redline/http`. Its own types are missing where that package is. */
export interface ExchangeObserver {
  ring(engine: number): Uint32Array;
  begin(
    request: IncomingMessage,
    response: ServerResponse | undefined,
    engine: number,
    slot: number,
    generation: number,
    sequence: number,
  ): object | undefined;
  run(context: object, callback: (...args: any[]) => void, ...args: unknown[]): void;
  routeOf(request: IncomingMessage, response: ServerResponse): number;
}

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
