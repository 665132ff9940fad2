/* The same symbol as in `@redline/response-cache/route`. */
const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

/** Marks a hook that decides nothing about a response: cached ones may be sent ahead of it. */
export function markTransparent<Hook extends object>(hook: Hook, does?: 'logs'): Hook {
  return Object.assign(hook, { [passesAll]: does ?? true });
}
