import { planExecFile } from '../calls/exec-file.ts';
import { judge } from '../plan/judge.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { planSpawn } from '../plan/spawn-plan.ts';
import type { PoolExecOptions } from './exec-file.ts';
import { isDeno, ownEngine } from './runtime.ts';
import type { PoolSpawnOptions } from './spawn-request.ts';

/** Whether Node's own functions are here to say what is wrong with their arguments. */
const isNode = ownEngine === 'node' && !isDeno;

/** @throws what Node's `spawn` throws for these arguments; the pool checks `stdio` itself */
export function checkSpawn(file: string, args: readonly string[], options: PoolSpawnOptions): void {
  const given = { ...options, stdio: undefined };
  if (planSpawn(file, args, given) !== undefined) return;
  refuse(() => nodeChildProcess.spawn(file, args, given));
}

/** @throws what Node's `execFile` throws for these arguments */
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
  if (isNode) return judge(call);
  throw Object.assign(new TypeError('An argument is invalid.'), { code: 'ERR_INVALID_ARG_VALUE' });
}
