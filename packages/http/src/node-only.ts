/** Options that only Node's own server knows how to honour. */
const NODE_ONLY = ['insecureHTTPParser', 'httpValidation', 'blockList', 'pauseOnConnect'] as const;

/** Whether the options of a server ask for what only Node has. */
export function needsNode(options: unknown): boolean {
  if (options === null || typeof options !== 'object') return false;
  const given = options as Record<string, unknown>;
  return NODE_ONLY.some((name) => Boolean(given[name]) && given[name] !== 'strict');
}
