import type { PlannedVariant } from '../config/resolve-plan.ts';
import type { Preload } from './packages.ts';
import { environmentName, type ScoutSettings } from './preload/protocol.ts';

export const asItIs = 'as it is';
export const withRedline = 'with redline';

/** The app under another name, with what is imported before it. Its command stays as it is: npm scripts get it too. */
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
  // Its own port, if a config fixes one, is what it is redirected from.
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
