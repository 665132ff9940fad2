import type { CallFacts, CallRecorder, OpenCall } from '../recorder.ts';
import { sqlFingerprint } from '../sql-fingerprint.ts';
import {
  callRecorded,
  isCallback,
  type Method,
  recorded,
  type Wrappable,
  wrapMethod,
} from './driver.ts';

interface Config {
  text?: unknown;
  values?: unknown;
  submit?: unknown;
  callback?: unknown;
  /** Set by a query stream. */
  cursor?: Config;
}

/**
 * Wraps `query` of the client of pg, which ORMs use too, and that of its pool: the pool calls the client in a later turn, when the
 * function of the app is not on the stack any more.
 */
export function wrapPg(recorder: CallRecorder): (owner: Wrappable | undefined) => void {
  return (owner) =>
    wrapMethod(
      owner?.prototype,
      'query',
      (query) =>
        function (this: unknown, ...args) {
          if (!recorder.isOn) return query.apply(this, args);
          return recorder.record(
            () => factsOf(args),
            (open) =>
              open === undefined ? query.apply(this, args) : call(query, this, args, open),
          );
        },
    );
}

function call(query: Method, owner: unknown, args: unknown[], open: OpenCall): unknown {
  const config = args[0] as Config | null;
  if (typeof config === 'object' && config !== null) {
    if (typeof config.submit === 'function') {
      watchSubmitted(config, open);
      return query.apply(owner, args);
    }
    // A client returns no promise then; a pool takes its callback from the arguments alone.
    if (typeof config.callback === 'function' && !args.slice(1).some(isCallback)) {
      const watched = withCallback(config, open.callback(config.callback as Method));
      return recorded(query.apply(owner, args.with(0, watched)), open);
    }
  }
  return callRecorded(query, owner, args, open);
}

/** Returns a copy, as pg itself makes one: the object belongs to the app, which may have frozen it. */
function withCallback(config: Config, callback: Method): Config {
  return Object.create(Object.getPrototypeOf(config) as object | null, {
    ...Object.getOwnPropertyDescriptors(config),
    callback: { value: callback, writable: true, enumerable: true, configurable: true },
  }) as Config;
}

/** Watches the methods that the client calls on a query, a cursor or a stream when the server has finished. */
function watchSubmitted(query: object, open: OpenCall): void {
  for (const name of ['handleError', 'handleReadyForQuery']) {
    wrapMethod(
      query,
      name,
      (handle) =>
        function (this: unknown, ...args) {
          open.end(name === 'handleError' ? args[0] : undefined);
          return handle.apply(this, args);
        },
    );
  }
}

function factsOf([config, given]: unknown[]): CallFacts | undefined {
  const { text, values } = typeof config === 'string' ? { text: config } : queryOf(config);
  if (typeof text !== 'string') return undefined;
  return {
    system: 'PostgreSQL',
    text: sqlFingerprint(text, 'PostgreSQL'),
    written: text,
    values: Array.isArray(given) ? given : values,
  };
}

function queryOf(config: unknown): Config {
  const query = (config ?? {}) as Config;
  return typeof query.text === 'string' ? query : (query.cursor ?? query);
}
