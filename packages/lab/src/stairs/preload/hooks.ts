import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchFor } from './adapters/patches.ts';
import type { Recorder } from './recorder.ts';
import { originalIn, parseSourceMap } from '../../profile/source-maps.ts';
import { globalName, type StairsState } from './state.ts';
import { cutSource, traceSource, type SourceFile } from './transform.ts';

/** Rewrites every file of the app as it is loaded; of the frameworks, only the few files that call its handlers. */
export function hookLoading(state: StairsState, recorder: Recorder, ownFolder: string): void {
  const { stages, guards, phase } = state.settings;
  const guarded = new Set(guards);
  const rewrite = (asked: SourceFile): string | undefined => {
    try {
      return phase === 'trace'
        ? traceSource({ ...asked, original: originalPlaces(asked.file, asked.source) }, (facts) =>
            recorder.know(facts),
          )
        : cutSource(asked, stages, guarded);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return undefined;
    }
  };
  const load: module.LoadHookSync = (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:')) return loaded;
    const file = fileURLToPath(url);
    const kind = kindOf(loaded.format, file);
    if (kind === undefined || file.startsWith(ownFolder)) return loaded;
    const patch = patchFor(file);
    if (patch === undefined && isDependency(file)) return loaded;
    const source = readSource(loaded.source, file, kind.isTypeScript);
    if (patch !== undefined) {
      if (patch.framework !== undefined) recorder.frameworks.add(patch.framework);
      return source === undefined ? loaded : { ...loaded, ...kind.as, source: patch.apply(source) };
    }
    const rewritten =
      source === undefined ? undefined : rewrite({ file, source, isModule: kind.isModule });
    if (rewritten !== undefined) return { ...loaded, ...kind.as, source: rewritten };
    recorder.unreadable.add(file);
    return loaded;
  };
  loadLast(load);
  rewriteCompiled((source, file) => {
    if (isDependency(file) || file.startsWith(ownFolder)) return source;
    const rewritten = rewrite({ file, source, isModule: false });
    if (rewritten !== undefined) recorder.unreadable.delete(file);
    return rewritten ?? source;
  });
}

/** Keeps our hook last: loaders of TypeScript register their own hooks after ours, and their output is the code that runs. */
function loadLast(load: module.LoadHookSync): void {
  const { registerHooks } = module;
  let ours = registerHooks({ load });
  module.registerHooks = (theirs) => {
    const registered = registerHooks(theirs);
    ours.deregister();
    ours = registerHooks({ load });
    return registered;
  };
  module.syncBuiltinESMExports();
}

/** Rewrites the output of loaders that read files themselves for `require`. */
function rewriteCompiled(rewrite: (source: string, file: string) => string): void {
  const { prototype } = module.Module as unknown as { prototype: { _compile: Compile } };
  const { _compile: compile } = prototype;
  prototype._compile = function (source, file, ...rest) {
    const isDone = typeof source !== 'string' || source.includes(`${globalName}.`);
    return compile.call(this, isDone ? source : rewrite(source, file), file, ...rest);
  };
}

type Compile = (this: unknown, source: unknown, file: string, ...rest: unknown[]) => unknown;

function originalPlaces(
  file: string,
  source: string,
): ((line: number, column: number) => { file: string; line: number }) | undefined {
  const map = parseSourceMap(source, file);
  if (map === undefined) return undefined;
  return (line, column) => {
    const found = originalIn(map, { url: file, line, column: column + 1 });
    return {
      file: found.url.startsWith('file:') ? fileURLToPath(found.url) : found.url,
      line: found.line,
    };
  };
}

interface FileKind {
  isModule: boolean;
  isTypeScript: boolean;
  /** Format after types are stripped. Left to Node if Node has yet to detect it. */
  as: { format?: 'module' | 'commonjs' };
}

function kindOf(format: string | null | undefined, file: string): FileKind | undefined {
  switch (format) {
    case 'module':
    case 'commonjs':
      return { isModule: format === 'module', isTypeScript: false, as: {} };
    case 'module-typescript':
      return { isModule: true, isTypeScript: true, as: { format: 'module' } };
    case 'commonjs-typescript':
      return { isModule: false, isTypeScript: true, as: { format: 'commonjs' } };
    case null:
    case undefined:
      // Loaded by `require`, with no type in package.json.
      return /\.json$|\.node$|\.wasm$/.test(file)
        ? undefined
        : { isModule: false, isTypeScript: false, as: {} };
    default:
      return undefined;
  }
}

function readSource(source: unknown, file: string, isTypeScript: boolean): string | undefined {
  const text =
    typeof source === 'string'
      ? source
      : source === null || source === undefined
        ? readFileSync(file, 'utf8')
        : Buffer.from(source as Uint8Array).toString();
  return isTypeScript ? withoutTypes(text) : text;
}

/** Replaces types with blanks, so that lines and columns stay; enums become code, if Node is started with support for them. */
function withoutTypes(text: string): string | undefined {
  for (const mode of ['strip', 'transform'] as const) {
    try {
      return module.stripTypeScriptTypes(text, { mode, sourceMap: mode === 'transform' });
    } catch {
      // Another loader may be able to read it.
    }
  }
  return undefined;
}

function isDependency(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}
