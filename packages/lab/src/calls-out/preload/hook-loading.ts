import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { callsPatchFor } from './patches.ts';
import { callsGlobal } from './recorder.ts';

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
