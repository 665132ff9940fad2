// Node's own timers, as used by its child_process. Tests replace the global ones (Jest, Vitest, Sinon, `mock.timers` of
// node:test), and then wait for children of the code under test.
import childProcess from 'node:child_process';
import * as timers from 'node:timers';

type Timers = Pick<typeof timers, 'clearTimeout' | 'setImmediate' | 'setTimeout'>;

/** Stored by `register`, since it loads the engine at the first call: they may have been replaced by then. */
const kept = (childProcess as never as { [key: symbol]: Timers | undefined })[
  Symbol.for('redline.child-process.timers')
];

const nodes = kept ?? timers;

export const clearTimeout: Timers['clearTimeout'] = nodes.clearTimeout;
export const setImmediate: Timers['setImmediate'] = nodes.setImmediate;
export const setTimeout: Timers['setTimeout'] = nodes.setTimeout;
