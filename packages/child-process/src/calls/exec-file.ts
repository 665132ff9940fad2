import type { ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { Execution, type ExecCallback, type ExecLimits } from './execution.ts';
import { nodeChildProcess, objectWithOther } from '../node/node-child-process.ts';
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

/** `exec` on the native engine. */
export function exec(command: unknown, options?: unknown, callback?: unknown): ChildProcess {
  if (typeof command !== 'string' || command.includes('\0')) {
    return nodeChildProcess.exec(command as never, options as never, callback as never);
  }
  if (typeof options === 'function') {
    callback = options;
    options = undefined;
  }
  const given = { ...(options as object | undefined) } as { shell?: unknown };
  const shell = typeof given.shell === 'string' ? given.shell : true;
  const all = { __proto__: null, ...given, shell };
  const other = objectWithOther(execFile) as { execFile: typeof execFile } | undefined;
  return other === undefined
    ? execFile(command, all, callback)
    : other.execFile(command, all, callback);
}

Object.defineProperty(exec, promisify.custom, { enumerable: false, value: withPromise(exec) });

type Callback = (error: Error | null, stdout: string | Buffer, stderr: string | Buffer) => void;

/** Returns the `util.promisify` version of `exec` or `execFile`: a promise of both outputs that carries the child. */
function withPromise(
  original: (...args: never[]) => ChildProcess,
): (...args: unknown[]) => Promise<{ stdout: string | Buffer; stderr: string | Buffer }> {
  const promised = (...args: unknown[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      stdout: string | Buffer;
      stderr: string | Buffer;
    }>();
    const callback: Callback = (error, stdout, stderr) => {
      const { resourceUsage } = (promise as { child?: ChildProcess }).child ?? {};
      if (error === null)
        resolve({ stdout, stderr, ...(resourceUsage !== undefined && { resourceUsage }) });
      else reject(Object.assign(error, { stdout, stderr }));
    };
    return Object.assign(promise, {
      child: Reflect.apply(original, undefined, [...args, callback]),
    });
  };
  Object.defineProperty(promised, 'name', { value: original.name });
  return promised;
}
