import type { DestinationStream, Logger } from 'pino';
import { symbols } from 'pino';

import { slimFields, slimNames, statusOf } from './line-fields.ts';
import type { LineShape } from './line-shape.ts';
import type { RequestLog } from '../request-log.ts';
import { thousandths } from '../request-id.ts';

export type WriteLine = (log: RequestLog, level: string, message: string, aborted: boolean) => void;

/** The parts of pino that a line is built from; `pino.symbols` is public, the types are not. */
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

/** Chooses the way in which lines are written, once. */
export function createWriteLine(pino: Logger, shape: LineShape): WriteLine {
  const parts = pino as unknown as PinoParts;
  const through = throughPino(pino, shape);
  const { fields } = shape;
  const isSlim = fields === 'slim' && shape.replace === undefined;
  return isSlim && isPlain(parts, shape) ? straight(pino, parts, shape, through) : through;
}

/** Writes any line: an object, handed to pino. */
function throughPino(pino: Logger, shape: LineShape): WriteLine {
  const { keys, assigned, missingError, replace } = shape;
  const slim = slimFields(keys);
  const pick = shape.fields === 'slim' ? slim : shape.fields;
  return (log, level, message, aborted) => {
    if (!pino.isLevelEnabled(level)) return;
    let line = pickSafely(log, pick, slim);
    if (assigned) {
      for (const name in log.fields) {
        if (!(name in line)) line[name] = log.fields[name];
      }
    }
    if (aborted) line['aborted'] = true;
    const failure = log.failure ?? missingError?.(log);
    if (failure !== undefined) line[keys.err] = failure;
    if (replace !== undefined) line = replace(log, line);
    Reflect.apply(Reflect.get(pino, level), pino, [line, message]);
  };
}

type Pick = (log: RequestLog) => Record<string, unknown>;

function pickSafely(log: RequestLog, pick: Pick, slim: Pick): Record<string, unknown> {
  try {
    return pick(log);
  } catch (error) {
    // Thrown in a "close" listener, it would end the process; swallowed, it would go unnoticed.
    log.failure ??= error;
    return slim(log);
  }
}

/**
 * Writes a slim line without extras, character for character the same as from pino, at a
 * fraction of its cost: pino walks the keys of an object and looks up serializers and redactors
 * for each, and none can apply here (see `isPlain`).
 */
function straight(pino: Logger, parts: PinoParts, shape: LineShape, through: WriteLine): WriteLine {
  const stream = parts[symbols.streamSym];
  const idHead = `,${JSON.stringify(shape.keys.reqId)}:`;
  const timeHead = `,${JSON.stringify(shape.keys.responseTime)}:`;
  const messageHead = `,${JSON.stringify(parts[symbols.messageKeySym])}:`;
  let lastMessage = '';
  let tail = '';
  return (log, level, message, aborted) => {
    if (aborted || log.fields !== undefined || log.failure !== undefined) {
      return through(log, level, message, aborted);
    }
    if (!pino.isLevelEnabled(level)) return;
    if (message !== lastMessage) {
      lastMessage = message;
      tail = messageHead + quote((pino.msgPrefix ?? '') + message) + parts[symbols.endSym];
    }
    const micros = Math.round(log.elapsedMs * 1000);
    const millis = Math.floor(micros / 1000);
    stream.write(
      parts[symbols.lsCacheSym][parts.levels.values[level] as number] +
        parts[symbols.timeSym]() +
        parts[symbols.chindingsSym] +
        idHead +
        quote(log.id) +
        ',"method":' +
        quote(log.rawRequest.method as string) +
        ',"url":' +
        quote(log.url) +
        ',"statusCode":' +
        statusOf(log.rawReply) +
        timeHead +
        millis +
        '.' +
        thousandths[micros - millis * 1000] +
        tail,
    );
  };
}

/** Returns true if none of the user's options for pino could change a slim line. */
function isPlain(parts: PinoParts, { keys: names }: LineShape): boolean {
  const hooks = parts[symbols.hooksSym];
  const shapers = [parts[symbols.serializersSym], parts[symbols.stringifiersSym]];
  const keys = [...slimNames(names), parts[symbols.messageKeySym], symbols.wildcardFirstSym];
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

/** Returns a JSON string; the loop beats `JSON.stringify` on the short strings of a line. */
function quote(text: string): string {
  if (text.length > 100) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}
