/** The meaning of each code, as docs/guide/measuring.md gives it. */
export const labErrorDocs = {
  ERR_REDLINE_CONFIG_FILE: 'the config file does not exist or cannot be loaded',
  ERR_REDLINE_CONFIG: 'the config has a wrong key or value',
  ERR_REDLINE_OPTION: 'a command-line option has a value that cannot be used',
  ERR_REDLINE_SERVER:
    'a server did not start, or exited while it was measured; its last lines are shown',
  ERR_REDLINE_LAUNCHER:
    'the command hands the app to a daemon, a container or a service, which may be running it already',
  ERR_REDLINE_PORT_TAKEN: 'a fixed port is in use by another process',
  ERR_REDLINE_CONTRACT: "a variant's responses differ from the baseline's, or `verify` failed",
  ERR_REDLINE_LOAD: 'the load generator could not run, or the measurement cannot be used',
  ERR_REDLINE_STAIRS:
    'the stages of a request could not be found, or requests cannot be ended at them',
  ERR_REDLINE_BUDGET: 'a budget file does not exist or cannot be read',
  ERR_REDLINE_PROFILE: 'a profile is missing, empty or in a form that cannot be read',
  ERR_REDLINE_ACCESS_LOG: 'an access log is missing, or none of its lines can be read',
  ERR_REDLINE_RUNTIME_UNKNOWN: 'npm does not have the named version of a runtime',
  ERR_REDLINE_RUNTIME: 'a runtime could not be fetched, or does not run on this machine',
  ERR_REDLINE_COMMAND:
    'a command that prepares a run, such as `--before`, failed; its last lines are shown',
  ERR_REDLINE_DOCKER:
    'no container could be started for `--docker`, or a step in it failed; its last lines are shown',
  ERR_REDLINE_GIT:
    'the trees of `--base` cannot be made: no repository, an unknown revision, or uncommitted changes',
  ERR_REDLINE_TRY: 'redline cannot serve the app, or found nothing in it to ask for',
  ERR_REDLINE_WRITE: 'a report could not be written; it was printed before that',
  ERR_REDLINE_PROOF: 'a proof does not exist, its two sides differ, or it could not be timed',
  ERR_REDLINE_UNEXPECTED: 'a fault of redline itself; REDLINE_STACK=1 shows where',
} as const;

export type LabErrorCode = keyof typeof labErrorDocs;

/** An error that the user can correct. Anything else that is thrown is a bug of redline: ERR_REDLINE_UNEXPECTED. */
export class LabError extends Error {
  override readonly name = 'LabError';
  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Returns 2 for wrong input, as for usage errors, and 1 for everything that fails while running. */
export function exitCodeOf({ code, cause }: LabError): 1 | 2 {
  // A named file that does not exist is wrong input, whatever kind of file it should be.
  const { code: reason, syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  if (isOfFile(code) && reason === 'ENOENT' && syscall === 'open') return 2;
  const isInput =
    code === 'ERR_REDLINE_CONFIG_FILE' ||
    code === 'ERR_REDLINE_CONFIG' ||
    code === 'ERR_REDLINE_OPTION' ||
    code === 'ERR_REDLINE_BUDGET' ||
    code === 'ERR_REDLINE_GIT' ||
    code === 'ERR_REDLINE_RUNTIME_UNKNOWN';
  return isInput ? 2 : 1;
}

function isOfFile(code: LabErrorCode): boolean {
  return code === 'ERR_REDLINE_PROFILE' || code === 'ERR_REDLINE_ACCESS_LOG';
}
