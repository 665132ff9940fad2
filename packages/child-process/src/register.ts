import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { childProcess as ours } from './child-process.ts';
import { native } from './native/engine.ts';

// For `node --import @redline/child-process/register app.js`: everything that is loaded from here on and asks for
// node:child_process gets the engine, dependencies included. Modules that are imported see it in their named imports,
// even those that were loaded before.
if (native !== undefined) {
  Object.assign(childProcess, ours);
  syncBuiltinESMExports();
}
