import { unknownOption } from '../unknown-option.ts';

/** Meaning of each code, the same as in docs/guide/logger.md. */
export const loggerErrorDocs = {
  ERR_REDLINE_LOGGER_OPTION:
    "an option has an invalid value, or pino refuses it (`cause` is pino's error)",
  ERR_REDLINE_LOGGER_UNKNOWN_OPTION: 'the option is unknown',
  ERR_REDLINE_LOGGER_ADAPTER: 'the app runs on neither Fastify nor Express',
  ERR_REDLINE_LOGGER_TWICE: 'the module was imported twice in one app',
  ERR_REDLINE_LOGGER_REQUEST_ID: 'the adapter was created with `requestIdHeader`',
  ERR_REDLINE_LOGGER_DESTINATION: "the path cannot be opened for writing (`cause` is Node's error)",
  ERR_REDLINE_LOGGER_NO_REQUEST: '`assign()` outside a request, or with `context: false`',
} as const;

export type LoggerErrorCode = keyof typeof loggerErrorDocs;

/**
 * An error of the logger, with a stable `code`.
 *
 * @example
 * try {
 *   logger.assign({ jobId });
 * } catch (error) {
 *   if (!(error instanceof LoggerError) || error.code !== "ERR_REDLINE_LOGGER_NO_REQUEST") throw error;
 * }
 */
export class LoggerError extends Error {
  override readonly name = 'LoggerError';
  /** Stable; the message may change between releases, the code does not. */
  readonly code: LoggerErrorCode;

  constructor(code: LoggerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Creates the error of one option, with the given and the expected value. */
export function optionError(name: string, value: unknown, expected: string): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_OPTION',
    `The option ${name} of LoggerModule must be ${expected}; got ${show(value)}.`,
  );
}

/** @throws {LoggerError} ERR_REDLINE_LOGGER_UNKNOWN_OPTION */
export function refuseUnknown<Options extends object>(
  of: string,
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): void {
  const message = unknownOption(of, options, known);
  if (message !== undefined) throw new LoggerError('ERR_REDLINE_LOGGER_UNKNOWN_OPTION', message);
}

/** @throws {LoggerError} ERR_REDLINE_LOGGER_OPTION */
export function checkFactory(options: { useFactory: unknown }): void {
  const { useFactory } = (options ?? {}) as Partial<typeof options>;
  if (typeof useFactory !== 'function') {
    throw optionError('useFactory', useFactory, 'a function that returns the options');
  }
}

export function adapterError(received: string): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_ADAPTER',
    `LoggerModule attaches pino to Fastify or Express, but this app runs on ${show(received)}: create it with one of their adapters.`,
  );
}

export function twiceError(): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_TWICE',
    'LoggerModule was imported twice in one app and would write every line twice: call LoggerModule.forRoot() once, in the root module; it is global.',
  );
}

export function requestIdError(header: unknown): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_REQUEST_ID',
    `FastifyAdapter was created with requestIdHeader: ${show(header)}, which accepts ids unchecked: remove it there and give requestId: { header: ${show(header)} } to LoggerModule.`,
  );
}

export function destinationError(destination: unknown, cause: unknown): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_DESTINATION',
    `LoggerModule cannot open ${show(destination)} for writing: ${cause instanceof Error ? cause.message : String(cause)}.`,
    { cause },
  );
}

export function noRequestError(fields: object): LoggerError {
  return new LoggerError(
    'ERR_REDLINE_LOGGER_NO_REQUEST',
    `assign(${show(fields)}) was called outside a request, where no response line can carry the fields: use logger.logger.child() there.`,
  );
}

function show(value: unknown): string {
  if (typeof value === 'function') return `function ${value.name}`.trim();
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
