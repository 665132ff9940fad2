import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { callsGlobal } from './recorder.ts';

// cspell:ignore cmap

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

type Compile = (this: unknown, source: unknown, file: string, ...rest: unknown[]) => unknown;

/** Appends their wrapper to the files of drivers as they are loaded, by `require` or `import`. Nothing else is changed. */
export function hookDrivers(): void {
  const { prototype } = module.Module as unknown as { prototype: { _compile: Compile } };
  const { _compile: compile } = prototype;
  prototype._compile = function (source, file, ...rest) {
    return compile.call(this, patched(source, file), file, ...rest);
  };
  // Node before 22.15 has no hooks of this kind: drivers that are ES modules are not seen there.
  (module as Partial<typeof module>).registerHooks?.({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:')) return loaded;
      const file = fileURLToPath(url);
      if (callsPatchFor(file) === undefined) return loaded;
      return { ...loaded, source: patched(textOf(loaded.source, file), file) };
    },
  });
}

/** Another hook may return bytes. Node reads the file of a CommonJS module after the hooks. */
function textOf(source: module.LoadFnOutput['source'], file: string): string {
  if (source === undefined || source === null) return readFileSync(file, 'utf8');
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

function patched<Source>(source: Source, file: string): Source | string {
  if (typeof source !== 'string' || source.includes(callsGlobal)) return source;
  const patch = callsPatchFor(file);
  return patch === undefined ? source : source + patch;
}
