// The timers and clocks as they are when the package is loaded: a test runner's fake timers replace the globals with clocks
// that do not advance, and Node's own server is unaffected by them. `register` is loaded long before the rest, and stores
// them.

type Clocks = Pick<typeof globalThis, 'queueMicrotask' | 'setImmediate' | 'setTimeout' | 'Date'> &
  Pick<NodeJS.Process, 'nextTick'>;

const kept = (process as never as { [key: symbol]: Clocks | undefined })[
  Symbol.for('redline.http.clocks')
];
const clocks: Clocks = kept ?? {
  nextTick: process.nextTick,
  queueMicrotask: globalThis.queueMicrotask,
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  Date: globalThis.Date,
};

export const nextTick: typeof process.nextTick = clocks.nextTick;
export const queueMicrotask: typeof globalThis.queueMicrotask = clocks.queueMicrotask;
export const setImmediate: typeof globalThis.setImmediate = clocks.setImmediate;
export const Date: typeof globalThis.Date = clocks.Date;

const { setTimeout } = clocks;

/** Starts a timer that does not keep the process alive. In some test environments timers are numbers. */
export function callLater(callback: () => void, delayMs: number): void {
  const timer: Partial<NodeJS.Timeout> | number = setTimeout(callback, delayMs);
  if (typeof timer === 'object') timer.unref?.();
}
