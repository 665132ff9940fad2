import { spelledOut } from './environment.ts';
import type { SpawnPlan } from './spawn-plan.ts';

/** What Node's `spawn` makes of its arguments: what `ChildProcess.prototype.spawn` is called with, and what tracers see. */
export function nodeOptions(plan: SpawnPlan): Record<string, unknown> {
  const { given } = plan;
  return {
    __proto__: null,
    ...given,
    args: plan.args,
    cwd: plan.cwd ?? given.cwd,
    detached: plan.detached,
    envPairs: spelledOut(plan.env).slice(),
    file: plan.file,
    windowsHide: Boolean(given.windowsHide),
    windowsVerbatimArguments: Boolean(given.windowsVerbatimArguments),
  };
}
