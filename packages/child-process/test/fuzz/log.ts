/** What became of a program, in lists. Each has an order of its own; they race with each other. */
export type Log = Record<string, unknown[]>;

/** An error by what a program may ask of it, anything else as it is. */
export function short(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, code, syscall, path, killed, signal, cmd, message } = value as Error &
    Record<string, unknown>;
  const cause = value.cause instanceof Error ? value.cause.message : undefined;
  return { name, code, syscall, path, killed, signal, cmd, message: message.split('\n')[0], cause };
}
