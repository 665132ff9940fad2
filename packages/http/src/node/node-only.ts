/** Options that only Node's own server knows how to honour. */
const NODE_ONLY = ['insecureHTTPParser', 'httpValidation', 'blockList', 'pauseOnConnect'] as const;

/** The option of a server that only Node has, where there is one. */
export function nodeOnlyOption(options: unknown): string | undefined {
  if (options === null || typeof options !== 'object') return undefined;
  const given = options as Record<string, unknown>;
  return NODE_ONLY.find((name) => Boolean(given[name]) && given[name] !== 'strict');
}
