/** Meaning of the codes that the module adds to those of `@redline/defer`, the same as in docs/guide/defer.md. */
export const deferModuleErrorDocs = {
  ERR_REDLINE_DEFER_METHOD_NAME: 'Two methods with `@AfterResponse` have the same name.',
  ERR_REDLINE_DEFER_METHOD_OPTION:
    '`@AfterResponse` has an unknown option, or one with an invalid value.',
  ERR_REDLINE_DEFER_METHOD_SCOPE:
    '`@AfterResponse` with a level above memory, or a delay, is on a method of a request-scoped class.',
  ERR_REDLINE_DEFER_NO_MODULE:
    'A method with `@AfterResponse` was called, but `DeferModule` is not imported.',
} as const;

export type DeferModuleErrorCode = keyof typeof deferModuleErrorDocs;

/** A wrong use of `DeferModule` or `@AfterResponse`. `code` is stable; the message may change. */
export class DeferModuleError extends Error {
  override readonly name = 'DeferModuleError';
  readonly code: DeferModuleErrorCode;

  constructor(code: DeferModuleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
