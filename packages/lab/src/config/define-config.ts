import type { RedlineConfig } from './types.ts';

/**
 * Gives a config its type.
 *
 * @example
 * export default defineConfig({
 *   name: 'my-api',
 *   requests: ['/users/1'],
 *   variants: [
 *     { name: 'now', command: 'node dist/main.js' },
 *     { name: 'node 26', command: 'npx -y node@26 dist/main.js' },
 *   ],
 * });
 */
export function defineConfig(config: RedlineConfig): RedlineConfig {
  return config;
}
