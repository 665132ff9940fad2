const codes = {
  /** `adapter` is neither 'fastify' nor 'express', or an adapter was given. */
  ERR_REDLINE_PLATFORM_OPTION: true,
  /** The package of the platform is not installed. */
  ERR_REDLINE_PLATFORM_MISSING: true,
} as const;

export type PlatformErrorCode = keyof typeof codes;

/** Thrown by `RedlineFactory`. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: PlatformErrorCode;

  constructor(code: PlatformErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
