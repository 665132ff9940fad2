import type { CallOut } from './preload/protocol.ts';
import type { CallOrder } from './result.ts';

type Span = Pick<CallOut, 'fromMs' | 'toMs' | 'fromIdleMs' | 'toIdleMs' | 'fromCpuMs' | 'toCpuMs'>;

/** Returns the idle time of the event loop and the CPU of the thread while at least one of the calls was open. */
export function timeOpen(spans: readonly Span[]): { waitMs: number; cpuMs: number } {
  const merged: Span[] = [];
  for (const span of inOrder(spans)) {
    const last = merged.at(-1);
    if (last === undefined || span.fromMs > last.toMs) merged.push({ ...span });
    else if (span.toMs > last.toMs) {
      last.toMs = span.toMs;
      last.toIdleMs = span.toIdleMs;
      last.toCpuMs = span.toCpuMs;
    }
  }
  let [waitMs, cpuMs] = [0, 0];
  for (const { fromIdleMs, toIdleMs, fromCpuMs, toCpuMs } of merged) {
    waitMs += Math.max(0, toIdleMs - fromIdleMs);
    cpuMs += Math.max(0, toCpuMs - fromCpuMs);
  }
  return { waitMs, cpuMs };
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
