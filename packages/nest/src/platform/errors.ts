/** Meaning of each code, the same as in README.md. */
export const platformErrorDocs = {
  ERR_REDLINE_PLATFORM_OPTION:
    'Options are not an object, the adapter is unknown or already created, or options of Fastify are given together with Express.',
  ERR_REDLINE_PLATFORM_MISSING: 'The package of the platform is not installed.',
} as const;

export type PlatformErrorCode = keyof typeof platformErrorDocs;

/** Thrown by `RedlineFactory`. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: PlatformErrorCode;

  constructor(code: PlatformErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
