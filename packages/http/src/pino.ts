import { randomBytes } from 'node:crypto';
import { type Bindings, type Logger, stdTimeFunctions, symbols } from 'pino';
import type { EngineLines, LineTemplate, LineSink } from './engine-log/engine-lines.ts';
import { type LineStream, streamSink } from './engine-log/stream-sink.ts';

export type {
  EngineLines,
  LineSink,
  LineSource,
  LineTemplate,
  LineWriting,
  ServerLines,
} from './engine-log/engine-lines.ts';
export { type LineStream, streamSink } from './engine-log/stream-sink.ts';

/** Selects the stored responses that are logged, and names the fields of their lines. */
export interface EngineLinesOptions {
  /**
   * `"all"`: one line per response. `"errors"`: those with status 400 and above. `{ sample: 0.1 }`: every error and a tenth
   * of the rest. `"off"`: none.
   * @default "all"
   */
  requests?: 'all' | 'errors' | 'off' | { sample: number };
  /**
   * The request header that supplies the id of a line, `false` for none. An id is used only if it is 1 to 128 characters of
   * `A-Z a-z 0-9 - _ . : / + = @ ~`; otherwise the engine generates one.
   * @default "x-request-id"
   */
  requestIdHeader?: string | false;
  /** The name of the id's field. @default "reqId" */
  reqIdKey?: string;
  /** The name of the response time's field. @default "responseTime" */
  responseTimeKey?: string;
  /**
   * With `"errors"`: leaves responses with status 400 and above to the application, whose lines have another form.
   * @default false
   */
  leaveErrors?: boolean;
  /** Destination of the lines. @default the logger's destination */
  sink?: LineSink;
}

/** Describes the output of a custom time function, which the engine reproduces. */
export interface TimeFormat {
  readonly clock: LineTemplate['clock'];
  readonly before: string;
  readonly behind: string;
}

/** Key of the format that a time function declares. */
export const timeFormat: unique symbol = Symbol.for('redline.timeFormat') as never;

/** The parts of pino that a line is made from; `pino.symbols` is public, their types are not. */
interface PinoParts {
  readonly levels: { values: Record<string, number> };
  readonly [symbols.lsCacheSym]: Record<number, string>;
  readonly [symbols.chindingsSym]: string;
  readonly [symbols.timeSym]: (() => string) & { readonly [timeFormat]?: TimeFormat };
  readonly [symbols.endSym]: string;
  readonly [symbols.messageKeySym]: string;
  readonly [symbols.streamSym]: LineStream & { [symbols.needsMetadataGsym]?: boolean };
  readonly [symbols.serializersSym]: object;
  readonly [symbols.stringifiersSym]: object;
  readonly [symbols.nestedKeySym]: string | null;
  readonly [symbols.mixinSym]: unknown;
  readonly [symbols.formattersSym]: { log?: unknown };
  readonly [symbols.hooksSym]: { logMethod?: unknown; streamWrite?: unknown };
}

const LEVELS = ['info', 'warn', 'error'] as const;

/** Headers whose duplicates Node drops, or joins in another way: the engine never reads ids from them. */
const NOT_JOINED = new Set(
  (
    'age authorization content-length content-type cookie etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server set-cookie user-agent'
  ).split(' '),
);

/**
 * Returns the access log of the responses that the engine sends without JavaScript:
 * `reqId, method, url, statusCode, responseTime` in lines of this logger, identical to its own character by character. The
 * level is `info`, `warn` for 400 and above, `error` for 500 and above.
 *
 * @throws TypeError for an invalid option.
 * @example responseStoreOf(server)?.log(engineLines(pino()));
 */
export function engineLines(logger: Logger, options: EngineLinesOptions = {}): EngineLines {
  const { requestIdHeader = 'x-request-id', leaveErrors = false } = options;
  const share = shareOf(options.requests);
  if (share === undefined) return { obstacle: undefined, writing: undefined };
  const keys = {
    id: options.reqIdKey ?? 'reqId',
    time: options.responseTimeKey ?? 'responseTime',
    header: requestIdHeader === false ? undefined : requestIdHeader.toLowerCase(),
  };
  const parts = logger as unknown as PinoParts;
  const obstacle = obstacleOf(parts, keys);
  if (obstacle !== undefined && share > 0) return { obstacle, writing: undefined };
  const sink = options.sink ?? streamSink(parts[symbols.streamSym]);
  const writing =
    leaveErrors || obstacle !== undefined
      ? { sink, template: () => WITHOUT_LINES, follow: () => () => {} }
      : {
          sink,
          template: () => templateOf(logger, keys, share),
          follow: (onChange: () => void) => follow(logger, onChange),
        };
  return { obstacle: undefined, writing };
}

/** Successful responses are not logged, and the application logs those of 400 and above. */
const WITHOUT_LINES: LineTemplate = {
  begins: [],
  reportsErrors: true,
  beforeTime: '',
  clock: 'none',
  beforeId: '',
  beforeDuration: '',
  ends: [],
  idPrefix: '',
  share: 0,
};

interface Keys {
  readonly id: string;
  readonly time: string;
  /** Request header that supplies the id. */
  readonly header: string | undefined;
}

function shareOf(requests: EngineLinesOptions['requests'] = 'all'): number | undefined {
  if (requests === 'all') return 1;
  if (requests === 'errors') return 0;
  if (requests === 'off') return undefined;
  const share: unknown = (requests as { sample?: unknown } | null)?.sample;
  if (typeof share === 'number' && share >= 0 && share <= 1) return share;
  throw new TypeError(
    `requests is ${JSON.stringify(requests)}: it must be "all", "errors", "off" or { sample: 0 to 1 }`,
  );
}

function obstacleOf(parts: PinoParts, keys: Keys): string | undefined {
  if (parts[symbols.lsCacheSym] === undefined) return 'the logger is of another copy of pino';
  const hooks = parts[symbols.hooksSym];
  if (parts[symbols.mixinSym] !== undefined) return 'pino has a mixin';
  if (parts[symbols.nestedKeySym] !== null) return 'pino has a nestedKey';
  if (parts[symbols.formattersSym].log !== undefined) return 'pino has formatters.log';
  if (hooks.logMethod !== undefined) return 'pino has hooks.logMethod';
  if (hooks.streamWrite !== undefined) return 'pino has hooks.streamWrite';
  if (parts[symbols.streamSym][symbols.needsMetadataGsym] === true) {
    return "pino's destination asks for the metadata of each line";
  }
  if (formatOf(parts) === undefined) return 'pino has a timestamp function of its own';
  const level = LEVELS.find((name) => !(name in parts.levels.values));
  if (level !== undefined) return `pino has no level "${level}"`;
  const { header } = keys;
  if (header !== undefined && NOT_JOINED.has(header)) return `request ids come from "${header}"`;
  const names = [keys.id, 'method', 'url', 'statusCode', keys.time, parts[symbols.messageKeySym]];
  const shaped = names.find(
    (name) => name in parts[symbols.serializersSym] || name in parts[symbols.stringifiersSym],
  );
  if (shaped !== undefined) return `pino serializes or redacts the field "${shaped}"`;
  if (symbols.wildcardFirstSym in parts[symbols.stringifiersSym]) return 'pino redacts every field';
  return undefined;
}

function formatOf(parts: PinoParts): TimeFormat | undefined {
  const time = parts[symbols.timeSym];
  switch (time) {
    case stdTimeFunctions.epochTime:
      return { clock: 'millis', before: ',"time":', behind: '' };
    case stdTimeFunctions.unixTime:
      return { clock: 'seconds', before: ',"time":', behind: '' };
    case stdTimeFunctions.isoTime:
      return { clock: 'iso', before: ',"time":"', behind: '"' };
    case stdTimeFunctions.nullTime:
      return { clock: 'none', before: '', behind: '' };
    default:
      return time[timeFormat];
  }
}

function templateOf(logger: Logger, keys: Keys, share: number): LineTemplate {
  const parts = logger as unknown as PinoParts;
  const { clock, before, behind } = formatOf(parts)!;
  const messageHead = `,${JSON.stringify(parts[symbols.messageKeySym])}:`;
  const prefix = logger.msgPrefix ?? '';
  const ends = ['request completed', 'request errored'].map(
    (message) => messageHead + JSON.stringify(prefix + message) + parts[symbols.endSym],
  );
  const begins = LEVELS.map((level) =>
    logger.isLevelEnabled(level)
      ? parts[symbols.lsCacheSym][parts.levels.values[level] as number]
      : undefined,
  );
  return {
    begins: begins as LineTemplate['begins'],
    reportsErrors: false,
    beforeTime: before,
    clock,
    beforeId: `${behind}${parts[symbols.chindingsSym]},${JSON.stringify(keys.id)}:`,
    beforeDuration: `,${JSON.stringify(keys.time)}:`,
    ends,
    ...(keys.header !== undefined && { idHeader: keys.header }),
    // The prefix is random, so ids are unique across successive templates.
    idPrefix: `${randomBytes(6).toString('base64url')}-`,
    share,
  };
}

/** pino emits an event for a level change, but not for new bindings. */
function follow(logger: Logger, onChange: () => void): () => void {
  const onLevel = (...args: unknown[]): void => {
    // Child loggers emit through it too.
    if (args[4] === logger) onChange();
  };
  logger.on('level-change', onLevel);
  const { setBindings } = logger;
  const own = Object.hasOwn(logger, 'setBindings');
  function setAndTell(this: Logger, bindings: Bindings): void {
    setBindings.call(this, bindings);
    if (this === logger) onChange();
  }
  logger.setBindings = setAndTell;
  return () => {
    logger.off('level-change', onLevel);
    if (logger.setBindings !== setAndTell) return;
    if (own) logger.setBindings = setBindings;
    else Reflect.deleteProperty(logger, 'setBindings');
  };
}
