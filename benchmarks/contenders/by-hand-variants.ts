// The variants of the scenario by-hand, in the order of its table.

/** Group → title and environment. */
export const byHandGroups: Record<string, { title: string; env: Record<string, string> }> = {
  node: { title: 'node:http, errors logged', env: { REDLINE_HTTP: 'node' } },
  logged: {
    title: 'node:http, every response logged',
    env: { REDLINE_HTTP: 'node', LOG_ALL: '1' },
  },
  engine: { title: 'the engine, errors logged', env: {} },
};

/** Cache and logger → description. */
export const byHandVariants: Record<string, string> = {
  'hand+hand': 'interceptor and hooks by hand',
  'redline+hand': '`JsonCacheModule`, hooks by hand',
  'hand+redline': 'interceptor by hand, `LoggerModule`',
  'redline+redline': '`JsonCacheModule`, `LoggerModule`',
};
