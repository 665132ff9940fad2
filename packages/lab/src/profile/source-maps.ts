import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Position {
  url: string;
  /** From 1. */
  line: number;
  column: number;
}

/** Leads from compiled code back to what was written, where a file names its map. Each file is read once. */
export class SourceMaps {
  readonly #maps = new Map<string, TraceMap | undefined>();

  /** The position in the source; the same position where there is no map, or none that can be read. */
  original(position: Position): Position {
    const map = this.#mapOf(position.url);
    return map === undefined ? position : originalIn(map, position);
  }

  #mapOf(url: string): TraceMap | undefined {
    if (!this.#maps.has(url)) this.#maps.set(url, load(url));
    return this.#maps.get(url);
  }
}

/** The position in the source of a map; the same position where the map knows none. */
export function originalIn(map: TraceMap, position: Position): Position {
  if (position.line < 1) return position;
  const found = originalPositionFor(map, {
    line: position.line,
    column: Math.max(0, position.column - 1),
  });
  if (found.source === null || leavesPackage(position.url, found.source)) return position;
  return { url: found.source, line: found.line, column: found.column + 1 };
}

/** Packages are compiled where they are not installed: a map of theirs may lead to a file of the app, or to none. */
function leavesPackage(compiled: string, source: string): boolean {
  const root = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(
    fileOf(compiled) ?? '',
  )?.[0];
  return root !== undefined && !(fileOf(source) ?? source).startsWith(root);
}

function load(url: string): TraceMap | undefined {
  const file = fileOf(url);
  if (file === undefined) return undefined;
  try {
    return parseSourceMap(readFileSync(file, 'utf8'), file);
  } catch {
    return undefined;
  }
}

/** The map a source names, where there is one that can be read. */
export function parseSourceMap(code: string, file: string): TraceMap | undefined {
  // The last one counts: a bundler leaves those of its parts in.
  const named = code.slice(code.lastIndexOf('sourceMappingURL='));
  const reference = /^sourceMappingURL=(\S+)/.exec(named)?.[1];
  if (reference === undefined) return undefined;
  try {
    return new TraceMap(readMap(reference, file), pathToFileURL(file).href);
  } catch {
    // A map that is not shipped, or broken: the compiled position is still true.
    return undefined;
  }
}

function readMap(reference: string, file: string): string {
  const inline = /^data:[^,]*?(;base64)?,(.*)$/.exec(reference);
  if (inline === null) {
    return readFileSync(resolve(dirname(file), decodeURIComponent(reference)), 'utf8');
  }
  const [, isBase64, data] = inline;
  return isBase64 ? Buffer.from(data!, 'base64').toString() : decodeURIComponent(data!);
}

function fileOf(url: string): string | undefined {
  if (url.startsWith('file://')) return fileURLToPath(url);
  return url.startsWith('/') || /^[A-Za-z]:[\\/]/.test(url) ? url : undefined;
}
