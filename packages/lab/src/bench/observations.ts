import type { MachineFacts } from '../figures.ts';
import type { LoadGenerator } from '../load/closed-loop.ts';
import type { OpenLoopOutcome } from '../load/open-loop.ts';
import type { Contestant } from '../servers/fleet.ts';
import type { Slice } from './result.ts';

/** The observations of a run, before any statistics. */
export interface Observations {
  contestants: Contestant[];
  /** Variant name → why it was not measured. */
  skipped: Map<string, string>;
  slices: Slice[];
  /** Slices without any completed request; they are left out. */
  voidSlices: Pick<Slice, 'restart' | 'block' | 'variant'>[];
  /** One entry per contestant and restart. */
  latencies: { restart: number; variant: string; outcome: OpenLoopOutcome }[];
  memory: { restart: number; variant: string; rssMiB: number }[];
  generator: LoadGenerator;
  openLoopRps: number;
  machine: MachineFacts;
  throttledTimes: number;
  /**
   * Share of the measuring time that was waited out or repeated because something outside slowed down the server's
   * core.
   */
  disturbedShare: number;
  /** One sentence, set if the time was over before all restarts were measured. */
  stopped?: string;
}

export interface RunListener {
  /** Called when something that takes a moment begins. */
  phase(text: string, restart: number, variant?: string): void;
  /** Called after each measured slice. */
  measured(slices: readonly Slice[], restart: number, block: number): void;
}

/** Returns the name of the baseline's second copy. */
export function controlName(baseline: string): string {
  return `${baseline} again`;
}
