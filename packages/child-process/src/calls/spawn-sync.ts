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
export function runPlanned(plan: SyncPlan): SpawnSyncReturns<Output> {
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
