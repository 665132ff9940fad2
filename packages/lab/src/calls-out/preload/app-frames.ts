import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CallFrame } from './protocol.ts';

const maxFrames = 6;
/** Drivers and ORMs put dozens of frames between a call and the app. */
const depth = 120;
/** Folder of all code of redline that runs in the app. */
const ownFolder = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the functions of the app that are calling, also those that await; the nearest first. */
export function appFrames(): CallFrame[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  let sites: NodeJS.CallSite[];
  try {
    Error.stackTraceLimit = depth;
    Error.prepareStackTrace = (_error, found) => found;
    Error.captureStackTrace(holder, appFrames);
    sites = holder.stack as NodeJS.CallSite[];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return Array.isArray(sites) ? sites.flatMap(frameOf).slice(0, maxFrames) : [];
}

function frameOf(site: NodeJS.CallSite): CallFrame[] {
  const name = site.getFileName() ?? '';
  const file = name.startsWith('file://') ? fileURLToPath(name) : name;
  const line = site.getLineNumber();
  if (!/^(\/|[A-Z]:\\)/.test(file) || line === null || isForeign(file)) return [];
  const column = site.getColumnNumber() ?? 1;
  return [{ name: nameOf(site), ...sourceOf(name, { file, line, column }) }];
}

function isForeign(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file) || file.startsWith(ownFolder);
}

function nameOf(site: NodeJS.CallSite): string {
  return site.getFunctionName()?.replace(/^Object\./, '') ?? site.getMethodName() ?? '';
}

/** Maps code that was compiled as it was loaded, whose map is in no file. */
function sourceOf(
  url: string,
  at: Pick<CallFrame, 'file' | 'line' | 'column'>,
): Pick<CallFrame, 'file' | 'line' | 'column'> {
  try {
    const found = findSourceMap(url)?.findEntry(at.line - 1, at.column - 1);
    if (found === undefined || !('originalSource' in found)) return at;
    const { originalSource, originalLine, originalColumn } = found;
    const file = originalSource.startsWith('file://')
      ? fileURLToPath(originalSource)
      : originalSource;
    return { file, line: originalLine + 1, column: originalColumn + 1 };
  } catch {
    return at;
  }
}
