import { inspect } from 'node:util';

import { ConsoleLogger, Inject, Injectable, type LogLevel } from '@nestjs/common';
import { type TimeFormat, timeFormat } from '@redline/http/pino';
import { unobserved } from '@redline/response-cache';
import { type LoggerOptions, symbols } from 'pino';

import { LoggerCore } from './logger-core.ts';
import type { LevelName } from './request-log.ts';

const LEVELS: Readonly<Record<LogLevel, LevelName>> = {
  verbose: 'trace',
  debug: 'debug',
  log: 'info',
  warn: 'warn',
  error: 'error',
  fatal: 'fatal',
};

const NEST_WORDS: Readonly<Record<string, string>> = { trace: 'verbose', info: 'log' };

type JsonOptions = Parameters<ConsoleLogger['getJsonLogObject']>[1];

/**
 * Nest's logger on pino, with the fields of Nest's own `ConsoleLogger({ json: true })`: it is that class, and writes to
 * pino. For the names of the fields pino adds, see `nativeLoggerOptions`.
 *
 * @example
 * app.useLogger(app.get(NativeLogger));
 */
@Injectable()
export class NativeLogger extends ConsoleLogger {
  readonly #core: LoggerCore;

  constructor(@Inject(LoggerCore) core: LoggerCore) {
    super({ json: true, ...core.options.nativeLogger });
    this.#core = core;
  }

  override isLevelEnabled(level: LogLevel): boolean {
    return this.#core.pino.isLevelEnabled(LEVELS[level]);
  }

  protected override printAsJson(message: unknown, options: JsonOptions): void {
    // A response does not depend on logged values, such as all headers.
    unobserved(() => this.#print(message, options));
  }

  #print(message: unknown, options: JsonOptions): void {
    const { pino, current, options: resolved } = this.#core;
    const {
      message: text,
      context,
      level: _l,
      pid: _p,
      timestamp: _t,
      ...fields
    } = this.getJsonLogObject(message, options) as Record<string, unknown>;
    const line = {
      ...(context !== undefined && { [resolved.shape.keys.context]: context }),
      ...fields,
    };
    const level = LEVELS[options.logLevel];
    if (typeof text === 'string') current[level](line, text);
    // Nest 11 leaves it to its writer to turn an error into text.
    else if (text instanceof Error) current[level](line, inspect(text, this.inspectOptions));
    else current[level]({ ...line, [messageKeyOf(pino)]: text });
  }
}

function messageKeyOf(pino: LoggerCore['pino']): string {
  return Reflect.get(pino, symbols.messageKeySym) as string;
}

/**
 * pino's options for the field names of `ConsoleLogger({ json: true })`: `level` in Nest's words, `timestamp`, `pid` and
 * `message`.
 *
 * @example
 * LoggerModule.forRoot({ pino: nativeLoggerOptions });
 */
export const nativeLoggerOptions: Pick<
  LoggerOptions,
  'messageKey' | 'timestamp' | 'base' | 'formatters'
> = {
  messageKey: 'message',
  timestamp: Object.assign(() => `,"timestamp":${Date.now()}`, {
    [timeFormat]: { clock: 'millis', before: ',"timestamp":', behind: '' } satisfies TimeFormat,
  }),
  base: { pid: process.pid },
  formatters: {
    level: (label) => ({ level: NEST_WORDS[label] ?? label }),
  },
};
