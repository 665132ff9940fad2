/* Shared with `@redline/response-cache`. */
const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

/** Marks a hook that decides nothing about a response: a cached one, which defers nothing, may be sent ahead of it. */
export function passingAll<Hook extends object>(hook: Hook): Hook {
  return Object.assign(hook, { [passesAll]: true as const });
}
