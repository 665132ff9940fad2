import { explicitPairs } from './environment.ts';
import type { SpawnPlan } from './spawn-plan.ts';

/**
 * Returns the options that Node's `spawn` derives from its arguments: passed to `ChildProcess.prototype.spawn` and seen by
 * tracers.
 */
export function nodeOptions(plan: SpawnPlan): Record<string, unknown> {
  const { given } = plan;
  return {
    __proto__: null,
    ...given,
    args: plan.args,
    cwd: plan.cwd ?? given.cwd,
    detached: plan.detached,
    envPairs: explicitPairs(plan.env).slice(),
    file: plan.file,
    windowsHide: Boolean(given.windowsHide),
    windowsVerbatimArguments: Boolean(given.windowsVerbatimArguments),
  };
}
