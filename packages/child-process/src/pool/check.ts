import { planExecFile } from '../calls/exec-file.ts';
import { validateWithNode } from '../plan/validate-with-node.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { planSpawn } from '../plan/spawn-plan.ts';
import type { PoolExecOptions } from './exec-file.ts';
import { isDeno, ownEngine } from './runtime.ts';
import type { PoolSpawnOptions } from './spawn-request.ts';

/** True if Node's own functions are available to report invalid arguments. */
const isNode = ownEngine === 'node' && !isDeno;

/** @throws the error of Node's `spawn` for these arguments; the pool checks `stdio` itself */
export function checkSpawn(file: string, args: readonly string[], options: PoolSpawnOptions): void {
  const given = { ...options, stdio: undefined };
  if (planSpawn(file, args, given) !== undefined) return;
  refuse(() => nodeChildProcess.spawn(file, args, given));
}

/** @throws the error of Node's `execFile` for these arguments */
export function checkExecFile(
  file: string,
  args: readonly string[],
  options: PoolExecOptions,
  callback: unknown,
): void {
  if (planExecFile(file, args, options, callback) !== undefined) return;
  refuse(() => nodeChildProcess.execFile(file, args, options as never, callback as never));
}

function refuse(call: () => void): void {
  if (isNode) return validateWithNode(call);
  throw Object.assign(new TypeError('An argument is invalid.'), { code: 'ERR_INVALID_ARG_VALUE' });
}
