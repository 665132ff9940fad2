/** A promise where a value belongs is refused; its own rejection, which nothing awaits, must not end the process as well. */
export function ignoreRejection<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
