// cspell:ignore cmap
import { callsGlobal } from './recorder.ts';

/** Files of drivers, and the wrapper that each calls at its end, where its names are in scope. */
const patches: readonly [ending: RegExp, call: string][] = [
  [/[\\/]pg[\\/]lib[\\/](native[\\/])?client\.js$/, 'pg(module.exports)'],
  [/[\\/]pg-pool[\\/]index\.js$/, 'pg(module.exports)'],
  // From mysql2 3.12 in a folder of its own.
  [/[\\/]mysql2[\\/]lib[\\/](base[\\/])?(connection|pool)\.js$/, 'mysql(module.exports)'],
  [/[\\/]mysql[\\/]lib[\\/](Connection|Pool)\.js$/, 'mysql(module.exports)'],
  [/[\\/]better-sqlite3[\\/]lib[\\/]methods[\\/]wrappers\.js$/, 'sqlite(module.exports)'],
  [/[\\/]mongodb[\\/]lib[\\/]cmap[\\/]connection\.js$/, 'mongodb(module.exports.Connection)'],
  // Before ioredis 5 in a folder of its own.
  [/[\\/]ioredis[\\/]built[\\/](Redis|redis[\\/]index)\.js$/, 'ioredis(module.exports.default)'],
  [
    /[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]commands-queue\.js$/,
    'nodeRedis(module.exports.default)',
  ],
];

/** Returns the code to append to a file of a driver; undefined for any other file. A driver of another form loads without it. */
export function callsPatchFor(file: string): string | undefined {
  if (!/[\\/]node_modules[\\/]/.test(file)) return undefined;
  const call = patches.find(([ending]) => ending.test(file))?.[1];
  return call === undefined
    ? undefined
    : `\n;try { globalThis.${callsGlobal}?.${call}; } catch {}\n`;
}
