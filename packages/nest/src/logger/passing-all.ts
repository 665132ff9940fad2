/* As `@redline/response-cache/route` knows it. */
const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

/** Marks a hook that decides nothing about a response: cached ones may be sent ahead of it. */
export function passingAll<Hook extends object>(hook: Hook, does?: 'logs'): Hook {
  return Object.assign(hook, { [passesAll]: does ?? true });
}
