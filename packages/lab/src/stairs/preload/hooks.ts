import { readFileSync } from 'node:fs';
import module, { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchFor } from './adapters/patches.ts';
import type { Recorder } from './recorder.ts';
import type { StairsState } from './state.ts';
import { cutSource, traceSource, type SourceFile } from './transform.ts';

/** Every file of the app is rewritten as it is loaded; of the frameworks, the few files that call its handlers. */
export function hookLoading(state: StairsState, recorder: Recorder, ownFolder: string): void {
  const { stages, guards, phase } = state.settings;
  const guarded = new Set(guards);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:')) return loaded;
      const file = fileURLToPath(url);
      const kind = kindOf(loaded.format);
      if (kind === undefined || file.startsWith(ownFolder)) return loaded;
      const patch = patchFor(file);
      if (patch === undefined && isDependency(file)) return loaded;
      const source = readSource(loaded.source, file, kind.isTypeScript);
      if (patch !== undefined) {
        recorder.frameworks.add(patch.framework);
        return { ...loaded, format: kind.format, source: `${source}\n;${patch.code}\n` };
      }
      const asked: SourceFile = { file, source, isModule: kind.format === 'module' };
      try {
        const rewritten =
          phase === 'trace'
            ? traceSource(asked, (facts) => recorder.know(facts))
            : cutSource(asked, stages, guarded);
        return { ...loaded, format: kind.format, source: rewritten };
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        recorder.unreadable.push(file);
        return loaded;
      }
    },
  });
}

function kindOf(
  format: string | null | undefined,
): { format: 'module' | 'commonjs'; isTypeScript: boolean } | undefined {
  switch (format) {
    case 'module':
    case 'commonjs':
      return { format, isTypeScript: false };
    case 'module-typescript':
      return { format: 'module', isTypeScript: true };
    case 'commonjs-typescript':
      return { format: 'commonjs', isTypeScript: true };
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
