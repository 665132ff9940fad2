/** Has the next `send` of a response send `bytes`. */
export function sendNextAs(response: { send(body: Buffer): unknown }, bytes: Buffer): void {
  const restore = overrideMethods(response, {
    send(this: typeof response): unknown {
      restore('send');
      return this.send(bytes);
    },
  });
}

/**
 * Replaces methods of `target` for a while. Returns a function that restores some of them: a plugin or middleware that
 * replaced one before gets its own back.
 */
export function overrideMethods(
  target: object,
  methods: Readonly<Record<string, unknown>>,
): (...names: readonly string[]) => void {
  const before = new Map(
    Object.keys(methods).map((name) => [name, Object.getOwnPropertyDescriptor(target, name)]),
  );
  Object.assign(target, methods);
  return (...names) => {
    for (const name of names) {
      const descriptor = before.get(name);
      if (descriptor === undefined) delete (target as Record<string, unknown>)[name];
      else Object.defineProperty(target, name, descriptor);
    }
  };
}
