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
