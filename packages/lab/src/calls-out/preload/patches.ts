import { callsGlobal } from './recorder.ts';

/** Files of drivers, and the wrapper that each calls at its end, where its names are in scope. */
const patches: readonly [ending: RegExp, call: string][] = [
  [/[\\/]pg[\\/]lib[\\/](native[\\/])?client\.js$/, 'pg(module.exports)'],
  [/[\\/]pg-pool[\\/]index\.js$/, 'pg(module.exports)'],
];

/** Returns the code to append to a file of a driver; undefined for any other file. */
export function callsPatchFor(file: string): string | undefined {
  if (!/[\\/]node_modules[\\/]/.test(file)) return undefined;
  const call = patches.find(([ending]) => ending.test(file))?.[1];
  return call === undefined ? undefined : `\n;globalThis.${callsGlobal}?.${call};\n`;
}
