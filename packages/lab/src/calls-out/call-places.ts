import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SourceMaps } from '../profile/source-maps.ts';
import type { CallFrame } from './preload/protocol.ts';

/** A function of the app's source. */
export interface CallPlace {
  name: string;
  /** Path relative to the folder of the app, with the line: `src/orders.js:12`. */
  place: string;
  column: number;
}

/** Returns the functions of the app's source for frames of its code; those of bundled packages are left out. */
export function placesOf(
  frames: readonly CallFrame[],
  { maps, folder }: { maps: SourceMaps; folder: string },
): CallPlace[] {
  return frames.flatMap(({ name, file, line, column }) => {
    const {
      url,
      line: originalLine,
      column: originalColumn,
    } = maps.original({
      url: pathToFileURL(file).href,
      line,
      column,
    });
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (/[\\/]node_modules[\\/]/.test(path)) return [];
    const inFolder = relative(folder, path);
    const shown = inFolder.startsWith('..') ? path.split(/[\\/]/).slice(-2).join('/') : inFolder;
    return [{ name, place: `${shown}:${originalLine}`, column: originalColumn }];
  });
}
