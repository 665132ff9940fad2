import { loadAddon, type Addon } from '../../native.cjs';

/** Returns the addon, or one clause that says why it is not used. */
export function findAddon(): Addon | string {
  const { env, versions } = process;
  if (env['REDLINE_TELEMETRY'] === 'sdk') return 'REDLINE_TELEMETRY=sdk is set';
  if (versions['bun'] !== undefined) return 'Bun runs it';
  if (versions['deno'] !== undefined) return 'Deno runs it';
  try {
    return loadAddon();
  } catch (error) {
    return (error as Error).message.split('\n', 1)[0]!;
  }
}
