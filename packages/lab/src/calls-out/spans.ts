import type { CallOut } from './preload/protocol.ts';
import type { CallOrder } from './result.ts';

type Span = Pick<CallOut, 'fromMs' | 'toMs' | 'fromIdleMs' | 'toIdleMs'>;

/** Returns how long at least one of the calls was open, and for how much of it the event loop was idle. */
export function timeOpen(spans: readonly Span[]): { waitMs: number; cpuMs: number } {
  const merged: Span[] = [];
  for (const span of inOrder(spans)) {
    const last = merged.at(-1);
    if (last === undefined || span.fromMs > last.toMs) merged.push({ ...span });
    else if (span.toMs > last.toMs) {
      last.toMs = span.toMs;
      last.toIdleMs = span.toIdleMs;
    }
  }
  let [waitMs, ms] = [0, 0];
  for (const { fromMs, toMs, fromIdleMs, toIdleMs } of merged) {
    waitMs += Math.max(0, toIdleMs - fromIdleMs);
    ms += toMs - fromMs;
  }
  return { waitMs, cpuMs: Math.max(0, ms - waitMs) };
}

export function orderOf(spans: readonly Span[]): CallOrder {
  if (spans.length < 2) return 'one';
  let most = 0;
  const open: number[] = [];
  for (const { fromMs, toMs } of inOrder(spans)) {
    for (let at = open.length - 1; at >= 0; at--) if (open[at]! <= fromMs) open.splice(at, 1);
    open.push(toMs);
    most = Math.max(most, open.length);
  }
  if (most === 1) return 'one after another';
  return most === spans.length ? 'together' : 'mixed';
}

function inOrder(spans: readonly Span[]): Span[] {
  return spans.toSorted((a, b) => a.fromMs - b.fromMs);
}
