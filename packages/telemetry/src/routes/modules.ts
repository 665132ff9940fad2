import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Node publishes it after each `require`, and after an `import` of a CommonJS module. */
interface Required {
  readonly id: string;
  readonly result?: unknown;
}

const CHANNEL = 'tracing:module.require:end';

/**
 * Calls back with the exports of packages as they are loaded.
 *
 * @param packages `required` matches the names under which the main file of a package is loaded
 */
export function onModules(
  packages: readonly { readonly required: RegExp; use(exports: unknown): void }[],
): () => void {
  const listener = (message: unknown): void => {
    const { id, result } = message as Required;
    if (result === undefined) return;
    for (const { required, use } of packages) {
      if (required.test(id)) use(result);
    }
  };
  subscribe(CHANNEL, listener);
  return () => void unsubscribe(CHANNEL, listener);
}
