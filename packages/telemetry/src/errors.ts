/** Meaning of each code; README.md has the same texts. */
export const telemetryErrorDocs = {
  ERR_REDLINE_TELEMETRY_VARIABLE:
    'an `OTEL_*` variable has a value that is unknown or not supported; the message has both, and what is possible',
  ERR_REDLINE_TELEMETRY_STARTED: 'another SDK is registered with `@opentelemetry/api`',
} as const;

export type TelemetryErrorCode = keyof typeof telemetryErrorDocs;

/** An error of this package's own. `code` is stable; the message may change. */
export class TelemetryError extends Error {
  override readonly name = 'TelemetryError';
  readonly code: TelemetryErrorCode;

  constructor(code: TelemetryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error of a second SDK in one process. */
export function alreadyStarted(): TelemetryError {
  const message =
    'Another SDK is registered with @opentelemetry/api: remove it, or @redline/telemetry';
  return new TelemetryError('ERR_REDLINE_TELEMETRY_STARTED', message);
}
