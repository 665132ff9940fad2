/** Ignores the rejection of a promise in place of a value: it is refused, and its rejection must not end the process as well. */
export function ignoreRejection<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
