import type { SpawnSyncReturns } from 'node:child_process';
import { constants } from 'node:os';
import { native } from '../native/engine.ts';
import { spawnError } from '../errors.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { signalName } from '../plan/signals.ts';
import { EXTRA } from '../native/wire.ts';
import { waitForPendingStarts } from '../native/port.ts';
import { monitoredBits, publishUsage, usageOf } from '../child/monitor.ts';
import { planSync, type SyncPlan } from '../plan/sync-plan.ts';

type Output = string | Buffer;

const { USAGE } = EXTRA;

/** `spawnSync` on the native engine. */
export function spawnSync(
  file: unknown,
  args?: unknown,
  options?: unknown,
): SpawnSyncReturns<Output> {
  waitForPendingStarts();
  const plan = planSync(file, args, options);
  // Node's own function reports invalid arguments, and runs calls that the engine does not support.
  if (plan === undefined)
    return nodeChildProcess.spawnSync(file as never, args as never, options as never);
  return runPlanned(plan);
}

/** Runs a process to its end on this thread. */
function runPlanned(plan: SyncPlan): SpawnSyncReturns<Output> {
  const { spawn } = plan;
  const bits = spawn.extras.bits | (monitoredBits() & USAGE);
  const { error, pid, code, signal, outputs, figures } = native!.addon.run(
    spawn.file,
    spawn.argv.join('\0'),
    spawn.env === null ? null : spawn.env.join('\0'),
    spawn.cwd,
    spawn.detached,
    spawn.uid,
    spawn.gid,
    plan.stdio,
    plan.input,
    spawn.timeoutMs,
    plan.maxBuffer,
    (spawn.killSignal as number | undefined) ?? constants.signals.SIGTERM,
    bits,
    spawn.extras.graceMs,
  );
  const resourceUsage = figures === undefined ? undefined : usageOf(figures);
  if (resourceUsage) publishUsage(undefined, spawn.file, resourceUsage);
  const output = outputs?.map((bytes) => decode(bytes, plan.encoding)) ?? null;
  return {
    ...(error !== 0 && {
      error: spawnError(error, spawn.file, spawn.args as string[], 'spawnSync'),
    }),
    status: code < 0 ? null : code,
    // Node has no name for a real-time signal either.
    signal: signal === 0 ? null : (signalName(signal) ?? ('' as never)),
    output: output as Output[],
    pid,
    stdout: output?.[1] as Output,
    stderr: output?.[2] as Output,
    ...(spawn.extras.bits & USAGE && { resourceUsage }),
  };
}

function decode(bytes: Buffer | null | undefined, encoding: unknown): Output | null {
  if (!bytes) return null;
  return encoding && encoding !== 'buffer' ? bytes.toString(encoding as BufferEncoding) : bytes;
}

/** `execFileSync` on the native engine. */
export function execFileSync(file: unknown, args?: unknown, options?: unknown): Output {
  waitForPendingStarts();
  const plan = planExecFile(file, args, options);
  if (plan === undefined)
    return nodeChildProcess.execFileSync(file as never, args as never, options as never);
  const given = (Array.isArray(args) ? options : (options ?? args)) as
    | ExecOptions
    | null
    | undefined;
  const list: unknown[] = Array.isArray(args) ? args : [];
  return outputOf(plan, given, [given?.argv0 || file, ...list].join(' '));
}

/** `execSync` on the native engine. */
export function execSync(command: unknown, options?: unknown): Output {
  waitForPendingStarts();
  const given = options as ExecOptions | null | undefined;
  const plan = isOptions(given)
    ? planSync(command, [], {
        ...given,
        shell: typeof given?.shell === 'string' ? given.shell : true,
      })
    : undefined;
  if (plan === undefined) return nodeChildProcess.execSync(command as never, options as never);
  return outputOf(plan, given, command as string);
}

interface ExecOptions {
  readonly argv0?: string;
  readonly shell?: unknown;
  readonly stdio?: unknown;
}

/** Returns `undefined` if Node has to decide. */
function planExecFile(file: unknown, args: unknown, options: unknown): SyncPlan | undefined {
  if (Array.isArray(args))
    return isOptions(options) ? planSync(file, args, options ?? {}) : undefined;
  if (args === undefined || args === null)
    return isOptions(options) ? planSync(file, [], options ?? {}) : undefined;
  // Node treats an argument after the options as a callback, although it never calls it.
  return isOptions(args) && (options === undefined || options === null)
    ? planSync(file, [], args)
    : undefined;
}

function isOptions(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value));
}

function outputOf(plan: SyncPlan, given: ExecOptions | null | undefined, command: string): Output {
  const result = runPlanned(plan);
  if (!given?.stdio && result.stderr) process.stderr.write(result.stderr);
  const error = errorOf(result, command);
  if (error !== undefined) throw error;
  return result.stdout;
}

function errorOf(result: SpawnSyncReturns<Output>, command: string): Error | undefined {
  if (result.error !== undefined) return Object.assign(result.error, result);
  if (result.status === 0) return undefined;
  const complaint = result.stderr?.length > 0 ? `\n${result.stderr.toString()}` : '';
  return Object.assign(new Error(`Command failed: ${command}${complaint}`), result);
}
