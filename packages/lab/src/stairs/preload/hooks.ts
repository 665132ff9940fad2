import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchFor } from './adapters/patches.ts';
import type { Recorder } from './recorder.ts';
import type { StairsState } from './state.ts';
import { cutSource, traceSource, type SourceFile } from './transform.ts';

/** Every file of the app is rewritten as it is loaded; of the frameworks, the few files that call its handlers. */
export function hookLoading(state: StairsState, recorder: Recorder, ownFolder: string): void {
  const { stages, guards, phase } = state.settings;
  const guarded = new Set(guards);
  module.registerHooks({
    load(url, context, nextLoad) {
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
        return { ...loaded, ...kind.as, source: `${source}\n;${patch.code}\n` };
      }
      const asked: SourceFile = { file, source, isModule: kind.isModule };
      try {
        const rewritten =
          phase === 'trace'
            ? traceSource(asked, (facts) => recorder.know(facts))
            : cutSource(asked, stages, guarded);
        return { ...loaded, ...kind.as, source: rewritten };
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        recorder.unreadable.push(file);
        return loaded;
      }
    },
  });
}

interface FileKind {
  isModule: boolean;
  isTypeScript: boolean;
  /** The format once types are gone. Where Node has yet to find out, it is left to. */
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
      // What `require` loads, where package.json names no type.
      return /\.json$|\.node$|\.wasm$/.test(file)
        ? undefined
        : { isModule: false, isTypeScript: false, as: {} };
    default:
      return undefined;
  }
}

function readSource(source: unknown, file: string, isTypeScript: boolean): string {
  const text =
    typeof source === 'string'
      ? source
      : source === null || source === undefined
        ? readFileSync(file, 'utf8')
        : Buffer.from(source as Uint8Array).toString();
  // Types become blanks, so that lines and columns stay.
  return isTypeScript ? module.stripTypeScriptTypes(text) : text;
}

function isDependency(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}
