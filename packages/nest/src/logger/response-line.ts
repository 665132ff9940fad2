import type { DestinationStream, Logger } from 'pino';
import { symbols } from 'pino';

import { fullFields, SLIM_FIELDS, slimFields, statusOf } from './line-fields.ts';
import type { LineFields } from './options.ts';
import type { RequestLog } from './request-log.ts';
import { thousandths } from './thousandths.ts';

type LineLevel = 'info' | 'warn' | 'error';

/** Writes the line of one response. */
export type WriteLine = (log: RequestLog, level: LineLevel, aborted: boolean) => void;

/** What of pino a line is put together from; `pino.symbols` is public, the types are not. */
interface PinoParts {
  readonly levels: { values: Record<string, number> };
  readonly [symbols.lsCacheSym]: Record<number, string>;
  readonly [symbols.chindingsSym]: string;
  readonly [symbols.timeSym]: () => string;
  readonly [symbols.endSym]: string;
  readonly [symbols.messageKeySym]: string;
  readonly [symbols.streamSym]: DestinationStream & { [symbols.needsMetadataGsym]?: boolean };
  readonly [symbols.serializersSym]: object;
  readonly [symbols.stringifiersSym]: object;
  readonly [symbols.nestedKeySym]: string | null;
  readonly [symbols.mixinSym]: unknown;
  readonly [symbols.formattersSym]: { log?: unknown };
  readonly [symbols.hooksSym]: { logMethod?: unknown; streamWrite?: unknown };
}

const MESSAGES: Readonly<Record<LineLevel, string>> = {
  info: 'request completed',
  warn: 'request completed',
  error: 'request errored',
};

/** Chooses how lines are written, once. */
export function createWriteLine(pino: Logger, fields: 'slim' | 'full' | LineFields): WriteLine {
  const pick = fields === 'slim' ? slimFields : fields === 'full' ? fullFields : fields;
  const parts = pino as unknown as PinoParts;
  const through = throughPino(pino, pick);
  return fields === 'slim' && isPlain(parts) ? straight(pino, parts, through) : through;
}

/** Any line: an object, handed to pino. */
function throughPino(pino: Logger, pick: LineFields): WriteLine {
  return (log, level, aborted) => {
    const line = pickSafely(pick, log);
    for (const name in log.fields) {
      if (!(name in line)) line[name] = log.fields[name];
    }
    if (aborted) line['aborted'] = true;
    if (log.failure !== undefined) line['err'] = log.failure;
    pino[level](line, aborted ? 'request aborted' : MESSAGES[level]);
  };
}

function pickSafely(pick: LineFields, log: RequestLog): Record<string, unknown> {
  try {
    return { ...pick(log.request, log.reply) };
  } catch (error) {
    // Thrown in a "close" listener, it would end the process; swallowed, nobody would know.
    log.failure ??= error;
    return { ...slimFields(log.request, log.reply) };
  }
}

/**
 * A slim line without extras, character for character what pino would have written, at a
 * fraction of its cost: pino walks the keys of an object and looks up serializers and redactors
 * for each, and none can apply here (see `isPlain`).
 */
function straight(pino: Logger, parts: PinoParts, through: WriteLine): WriteLine {
  const stream = parts[symbols.streamSym];
  const key = JSON.stringify(parts[symbols.messageKeySym]);
  const tails = { info: '', warn: '', error: '' };
  for (const level of ['info', 'warn', 'error'] as const) {
    tails[level] = `,${key}:${JSON.stringify(MESSAGES[level])}${parts[symbols.endSym]}`;
  }
  return (log, level, aborted) => {
    if (aborted || log.fields !== undefined || log.failure !== undefined) {
      return through(log, level, aborted);
    }
    if (!pino.isLevelEnabled(level)) return;
    const { request, reply } = log;
    const { method, url } = request.raw;
    const micros = Math.round(reply.elapsedTime * 1000);
    const millis = Math.floor(micros / 1000);
    stream.write(
      parts[symbols.lsCacheSym][parts.levels.values[level] as number] +
        parts[symbols.timeSym]() +
        parts[symbols.chindingsSym] +
        ',"reqId":' +
        quote(request.id) +
        ',"method":' +
        quote(method as string) +
        ',"url":' +
        quote(url as string) +
        ',"statusCode":' +
        statusOf(reply) +
        ',"responseTime":' +
        millis +
        '.' +
        thousandths[micros - millis * 1000] +
        tails[level],
    );
  };
}

/** Whether nothing the user gave pino could change a slim line. */
function isPlain(parts: PinoParts): boolean {
  const hooks = parts[symbols.hooksSym];
  const shapers = [parts[symbols.serializersSym], parts[symbols.stringifiersSym]];
  const keys = [...SLIM_FIELDS, parts[symbols.messageKeySym], symbols.wildcardFirstSym];
  return (
    parts[symbols.mixinSym] === undefined &&
    parts[symbols.nestedKeySym] === null &&
    parts[symbols.formattersSym].log === undefined &&
    hooks.logMethod === undefined &&
    hooks.streamWrite === undefined &&
    parts[symbols.streamSym][symbols.needsMetadataGsym] !== true &&
    shapers.every((shaper) => keys.every((key) => !(key in shaper)))
  );
}

/** A JSON string; the loop beats `JSON.stringify` on the short strings of a line. */
function quote(text: string): string {
  if (text.length > 100) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}
