// What tells the time and calls back, as it is when the package is loaded: a test runner's fake timers replace the globals with
// clocks that stand still, which Node's own server would not notice.
export const nextTick: typeof process.nextTick = process.nextTick;
export const queueMicrotask: typeof globalThis.queueMicrotask = globalThis.queueMicrotask;
export const setImmediate: typeof globalThis.setImmediate = globalThis.setImmediate;
export const Date: typeof globalThis.Date = globalThis.Date;

const { setTimeout } = globalThis;

/** A timer that does not keep the process alive. In some test environments timers are numbers. */
export function callLater(callback: () => void, delayMs: number): void {
  const timer: Partial<NodeJS.Timeout> | number = setTimeout(callback, delayMs);
  if (typeof timer === 'object') timer.unref?.();
}
