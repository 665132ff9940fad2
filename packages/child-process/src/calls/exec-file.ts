import type { ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { Execution, type ExecCallback, type ExecLimits } from './execution.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { withPromise } from './promise.ts';
import { givenExtras } from '../plan/extras.ts';
import { validSignal } from '../plan/signals.ts';
import { planSpawn, type SpawnPlan } from '../plan/spawn-plan.ts';
import { spawnPlanned } from './spawn.ts';

const MAX_BUFFER = 1024 * 1024;

/** `execFile` on the native engine: the output is collected natively unless user code accesses the streams. */
export function execFile(
  file: unknown,
  args?: unknown,
  options?: unknown,
  callback?: unknown,
): ChildProcess {
  const given = { args, options, callback };
  if (Array.isArray(args)) args = args.slice();
  else if (typeof args === 'object' && args !== null) {
    callback = options;
    options = args;
    args = null;
  } else if (typeof args === 'function') {
    callback = args;
    options = null;
    args = null;
  }
  if (typeof options === 'function') {
    callback = options;
    options = undefined;
  }
  const planned = planExecFile(file, args ?? [], options, callback);
  if (planned === undefined) {
    return nodeChildProcess.execFile(
      file as never,
      given.args as never,
      given.options as never,
      given.callback as never,
    );
  }
  const execution = new Execution(
    file as string,
    args as string[] | null,
    planned.limits,
    callback as ExecCallback | undefined,
  );
  return execution.attachTo(spawnPlanned(planned.spawn, execution), planned.spawn.extras);
}

Object.defineProperty(execFile, promisify.custom, {
  enumerable: false,
  value: withPromise(execFile),
});

/** Returns `undefined` if Node has to decide. */
export function planExecFile(
  file: unknown,
  args: unknown,
  options: unknown,
  callback: unknown,
): { spawn: SpawnPlan; limits: ExecLimits } | undefined {
  const isObject = typeof options === 'object' && !Array.isArray(options);
  if (options !== undefined && !isObject) return undefined;
  if (callback !== undefined && callback !== null && typeof callback !== 'function')
    return undefined;
  // Node validates it although it does not pass it on.
  const { argv0 } = (options ?? {}) as { argv0?: unknown };
  if (argv0 !== undefined && argv0 !== null) {
    if (typeof argv0 !== 'string' || argv0.includes('\0')) return undefined;
  }
  const all = {
    __proto__: null,
    encoding: 'utf8',
    timeout: 0,
    maxBuffer: MAX_BUFFER,
    killSignal: 'SIGTERM',
    cwd: null,
    env: null,
    ...(options as object | null | undefined),
  } as Record<string, unknown>;
  const limits = limitsOf(all);
  if (limits === undefined) return undefined;
  const { cwd, env, gid, shell, signal, uid } = all;
  const spawn = planSpawn(file, args, {
    cwd,
    env,
    gid,
    shell: shell ?? false,
    signal,
    uid,
    windowsHide: Boolean(all['windowsHide']),
    windowsVerbatimArguments: Boolean(all['windowsVerbatimArguments']),
    // Wrappers of ChildProcess.prototype.spawn, and tracers, see the option names that Node would pass.
    ...givenExtras(all),
  });
  return spawn === undefined ? undefined : { spawn, limits };
}

function limitsOf({
  encoding,
  timeout,
  maxBuffer,
  killSignal,
}: Record<string, unknown>): ExecLimits | undefined {
  const signal =
    killSignal === null || killSignal === undefined ? undefined : validSignal(killSignal);
  if (signal === undefined && killSignal !== null && killSignal !== undefined) return undefined;
  if (
    timeout !== null &&
    timeout !== undefined &&
    !(Number.isInteger(timeout) && (timeout as number) >= 0)
  ) {
    return undefined;
  }
  if (
    maxBuffer !== null &&
    maxBuffer !== undefined &&
    !(typeof maxBuffer === 'number' && maxBuffer >= 0)
  ) {
    return undefined;
  }
  const isText = encoding !== 'buffer' && Buffer.isEncoding(encoding as string);
  return {
    encoding: isText ? (encoding as BufferEncoding) : null,
    timeoutMs: (timeout as number | null | undefined) ?? 0,
    // Node compares with the raw value: nothing exceeds undefined, everything exceeds null.
    maxBuffer: maxBuffer === undefined ? Infinity : ((maxBuffer as number | null) ?? 0),
    killSignal: signal,
  };
}
