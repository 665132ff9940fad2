import type { MachineFacts } from '../figures.ts';
import type { Runtime } from '../runtimes/cache.ts';
import { measureProof, type ProvePrecision } from './measure.ts';
import type { Proof } from './proof.ts';
import type { ProvenRule, ProvenRuntime, SkippedRuntime } from './result.ts';
import { majorOfVersion, v8Of } from './runtime-version.ts';

export interface ProveListener {
  /** Called before a rule is timed on a runtime; `done` of `all` are complete. */
  next(rule: string, node: string, done: number, all: number): void;
  /** Called when all runtimes of a rule are done. */
  proved(rule: ProvenRule): Promise<void>;
}

/** The proofs to time, the runtimes, and the precision. */
export interface ProvePlan {
  proofs: readonly Proof[];
  runtimes: readonly Runtime[];
  precision: ProvePrecision;
  machine: MachineFacts;
}

/** Runs every proof on every runtime, one after the other: nothing else may run while something is timed. */
export async function runProve(
  plan: ProvePlan,
  listener: ProveListener,
  signal: AbortSignal,
): Promise<ProvenRule[]> {
  const { proofs, runtimes } = plan;
  const proven: ProvenRule[] = [];
  let done = 0;
  for (const proof of proofs) {
    const measured: (ProvenRuntime | SkippedRuntime)[] = [];
    for (const runtime of runtimes) {
      listener.next(proof.name, runtime.version, done++, proofs.length * runtimes.length);
      measured.push(await onRuntime(proof, runtime, plan, signal));
    }
    const rule: ProvenRule = {
      rule: proof.name,
      before: proof.before,
      after: proof.after,
      ...(proof.changesResult === undefined ? {} : { changesResult: proof.changesResult }),
      runtimes: measured,
    };
    await listener.proved(rule);
    proven.push(rule);
  }
  return proven;
}

async function onRuntime(
  proof: Proof,
  runtime: Runtime,
  { precision, machine }: ProvePlan,
  signal: AbortSignal,
): Promise<ProvenRuntime | SkippedRuntime> {
  if (proof.since !== undefined && majorOfVersion(runtime.version) < proof.since) {
    return { node: runtime.version, skipped: `the advice needs Node ${proof.since}` };
  }
  const { slices, ...timing } = await measureProof(proof, runtime, precision, signal);
  return {
    node: runtime.version,
    v8: v8Of(runtime),
    timer: 'own loop',
    ...timing,
    restarts: precision.restarts,
    blocks: precision.blocks,
    seed: precision.seed,
    machine: `${machine.cpuModel}, ${machine.cores} cores, ${machine.kernel}`,
    measuredOn: new Date().toISOString().slice(0, 10),
    slices,
  };
}
