import type { TestContext } from 'node:test';

/** The clock that decides how old a response is. */
export interface Clock {
  advance(byMs: number): void;
}

export function clockOf(t: { mock: { method: Function } }): Clock {
  const realNow = Date.now.bind(Date);
  let aheadMs = 0;
  t.mock.method(Date, 'now', () => realNow() + aheadMs);
  return { advance: (byMs) => void (aheadMs += byMs) };
}

/** The same, and the clock of deadlines and of stores in this process. */
export function clocksOf(t: { mock: { method: Function } }): Clock {
  const realNow = performance.now.bind(performance);
  const wall = clockOf(t);
  let aheadMs = 0;
  t.mock.method(performance, 'now', () => realNow() + aheadMs);
  return {
    advance(byMs) {
      wall.advance(byMs);
      aheadMs += byMs;
    },
  };
}

/** Returns what lets time pass, for `clock` and for the timers. */
export function timersOf(t: TestContext, clock: Clock): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] });
  return (ms) => {
    clock.advance(ms);
    t.mock.timers.tick(ms);
  };
}
