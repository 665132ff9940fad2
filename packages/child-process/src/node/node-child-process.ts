import childProcess from 'node:child_process';

/** Node's own functions, as they were before `register.ts` put this package's into their place. */
export const nodeChildProcess: typeof childProcess = { ...childProcess };
