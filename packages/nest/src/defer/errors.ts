export type DeferModuleErrorCode =
  | 'ERR_REDLINE_DEFER_METHOD_NAME'
  | 'ERR_REDLINE_DEFER_METHOD_OPTION'
  | 'ERR_REDLINE_DEFER_METHOD_SCOPE'
  | 'ERR_REDLINE_DEFER_NO_MODULE';

/** The codes the Nest module adds to those of `@redline/defer`, with the sentence the guide gives for each. */
export const deferModuleErrorDocs: Readonly<Record<DeferModuleErrorCode, string>> = {
  ERR_REDLINE_DEFER_METHOD_NAME: 'Two methods with `@AfterResponse` have the same name.',
  ERR_REDLINE_DEFER_METHOD_OPTION: '`@AfterResponse` has an unknown option.',
  ERR_REDLINE_DEFER_METHOD_SCOPE:
    '`@AfterResponse` with a level above memory, or a delay, is on a method of a request-scoped class.',
  ERR_REDLINE_DEFER_NO_MODULE:
    'A method with `@AfterResponse` was called, but `DeferModule` is not imported.',
};

/** An error in how `DeferModule` and `@AfterResponse` are used. `code` is stable; the message may change. */
export class DeferModuleError extends Error {
  readonly code: DeferModuleErrorCode;

  constructor(code: DeferModuleErrorCode, message: string) {
    super(message);
    this.name = 'DeferModuleError';
    this.code = code;
  }
}
