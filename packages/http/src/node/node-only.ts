/** Options that only Node's own server implements. */
const NODE_ONLY = ['insecureHTTPParser', 'httpValidation', 'blockList', 'pauseOnConnect'] as const;

/** Returns the first Node-only option in use, if any. */
export function nodeOnlyOption(options: unknown): string | undefined {
  if (options === null || typeof options !== 'object') return undefined;
  const given = options as Record<string, unknown>;
  return NODE_ONLY.find((name) => Boolean(given[name]) && given[name] !== 'strict');
}
