import { engine } from '../native/engine.ts';
import type { ExtraOptions } from '../options.ts';

const warned = new Set<string>();

/** Warns once that an option needs the native engine, and states the fallback. */
export function warnWithoutEngine(option: keyof ExtraOptions, instead: string): void {
  if (warned.has(option)) return;
  warned.add(option);
  const found = engine();
  const why = found.name === 'node' ? `: ${found.reason}` : ' for this child, which is not its own';
  process.emitWarning(
    `${option} needs the native engine of @redline/child-process, which does not serve${why}. Instead, ${instead}.`,
    { type: 'RedlineWarning', code: 'REDLINE_CHILD_PROCESS_WITHOUT_ENGINE' },
  );
}
