/** Everything a user can do something about. Anything else that is thrown is a bug of ours and keeps its stack. */
export type LabErrorCode =
  /** The config file, or a file it names, is not there or cannot be loaded. */
  | 'ERR_REDLINE_CONFIG_FILE'
  /** The config has a wrong key or value. */
  | 'ERR_REDLINE_CONFIG'
  /** A command-line option has a value that cannot be used. */
  | 'ERR_REDLINE_OPTION'
  /** A server did not come up, or ended while it was measured. */
  | 'ERR_REDLINE_SERVER'
  /** A fixed port is in use by another process. */
  | 'ERR_REDLINE_PORT_TAKEN'
  /** A variant does not answer what the baseline answers, or failed its own check. */
  | 'ERR_REDLINE_CONTRACT'
  /** The load generator could not run, or the measurement cannot be used. */
  | 'ERR_REDLINE_LOAD';

/** @see LabErrorCode */
export class LabError extends Error {
  override readonly name = 'LabError';
  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Wrong input ends with 2, as usage errors do; everything that failed while running with 1. */
export function exitCodeOf(error: LabError): 1 | 2 {
  return error.code === 'ERR_REDLINE_CONFIG_FILE' ||
    error.code === 'ERR_REDLINE_CONFIG' ||
    error.code === 'ERR_REDLINE_OPTION'
    ? 2
    : 1;
}
