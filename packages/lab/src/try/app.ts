import type { PlannedVariant } from '../config/resolve-plan.ts';
import type { Preload } from './packages.ts';
import { environmentName, type ScoutSettings } from './preload/protocol.ts';

export const unchanged = 'as it is';
export const withRedline = 'with redline';

/** Returns the app under another name, with imports in front of it. Its command is unchanged: npm scripts get the imports too. */
export function variantOf(
  app: PlannedVariant,
  name: string,
  preloads: readonly Preload[],
  settings?: ScoutSettings,
): PlannedVariant {
  const scout = settings && new URL('./preload/scout.js', import.meta.url).href;
  const imports = [
    ...(scout === undefined ? [] : [scout]),
    ...preloads.map((each) => each.register),
  ];
  // No fixed port: one that a config sets is redirected.
  if (imports.length === 0) return { ...app, name, port: undefined };
  const given = app.env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  const options = [...(given ? [given] : []), ...imports.map((url) => `--import=${url}`)];
  return {
    ...app,
    name,
    port: undefined,
    env: {
      ...app.env,
      NODE_OPTIONS: options.join(' '),
      ...(settings === undefined ? {} : { [environmentName]: JSON.stringify(settings) }),
    },
  };
}
