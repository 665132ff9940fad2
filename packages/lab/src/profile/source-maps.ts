import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Position {
  url: string;
  /** From 1. */
  line: number;
  column: number;
}

/** The map of a compiled file. */
export interface FileMap {
  readonly map: SourceMap;
  /** Names of sources are relative to this URL. */
  readonly base: string;
}

/** Maps compiled code back to its source, if a file names its map. Each file is read once. */
export class SourceMaps {
  readonly #maps = new Map<string, FileMap | undefined>();

  /** Returns the position in the source; the same position if the map is missing or cannot be read. */
  original(position: Position): Position {
    const map = this.#mapOf(position.url);
    return map === undefined ? position : originalIn(map, position);
  }

  #mapOf(url: string): FileMap | undefined {
    if (!this.#maps.has(url)) this.#maps.set(url, load(url));
    return this.#maps.get(url);
  }
}

/** Returns the position in the source of a map; the same position if the map has none. */
export function originalIn({ map, base }: FileMap, position: Position): Position {
  if (position.line < 1) return position;
  const line = position.line - 1;
  const found = map.findEntry(line, Math.max(0, position.column - 1));
  // Node goes back over lines without an entry, to unrelated code.
  if (!('originalSource' in found) || found.generatedLine !== line) return position;
  const { originalSource: source, originalLine, originalColumn } = found;
  // Code added by the compiler has no source.
  if (typeof source !== 'string' || !URL.canParse(source, base)) return position;
  const url = new URL(source, base).href;
  if (leavesPackage(position.url, url)) return position;
  return { url, line: originalLine + 1, column: originalColumn + 1 };
}

/**
 * Detects a map that leads out of its package: packages are compiled elsewhere, so it may lead to a file of the app, or to none.
 */
function leavesPackage(compiled: string, source: string): boolean {
  const root = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(
    fileOf(compiled) ?? '',
  )?.[0];
  return root !== undefined && !(fileOf(source) ?? source).startsWith(root);
}

function load(url: string): FileMap | undefined {
  const file = fileOf(url);
  if (file === undefined) return undefined;
  try {
    return parseSourceMap(readFileSync(file, 'utf8'), file);
  } catch {
    return undefined;
  }
}

/** Returns the map that a source names, if it can be read. */
export function parseSourceMap(code: string, file: string): FileMap | undefined {
  // The last one counts: a bundler keeps those of its parts.
  const named = code.slice(code.lastIndexOf('sourceMappingURL='));
  const reference = /^sourceMappingURL=(\S+)/.exec(named)?.[1];
  if (reference === undefined) return undefined;
  try {
    const payload: SourceMapPayload = JSON.parse(readMap(reference, file));
    const root = payload.sourceRoot ? payload.sourceRoot.replace(/\/?$/, '/') : '';
    return { map: new SourceMap(payload), base: new URL(root, pathToFileURL(file)).href };
  } catch {
    // The map is not shipped, or broken: the compiled position is still correct.
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
