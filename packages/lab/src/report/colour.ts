import { styleText } from 'node:util';
import type { Reading } from './reading.ts';

/** Obeys NO_COLOR and FORCE_COLOR, in that order; otherwise returns true for terminals that can show colour. */
export function usesColour(
  stream: { isTTY?: boolean | undefined },
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && environment['TERM'] !== 'dumb';
}

/**
 * True if the terminal can show box-drawing characters and marks: a UTF-8 locale, or a Windows terminal other than the old console.
 */
export function usesUnicode(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (platform === 'win32') {
    return Boolean(environment['WT_SESSION'] ?? environment['TERM_PROGRAM'] ?? environment['CI']);
  }
  if (environment['TERM'] === 'linux') return false;
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'];
  // Containers usually set no locale, and are read through terminals that support UTF-8.
  return !locale || /utf-?8/i.test(locale);
}

/** Colours only ▲ ▼ and their word: blue and yellow, which all common forms of colour blindness tell apart. */
export function paint(text: string, reading: Reading, colour: boolean): string {
  if (!colour || (reading !== 'better' && reading !== 'worse')) return text;
  return styleText(reading === 'better' ? 'blue' : 'yellow', text, { validateStream: false });
}
