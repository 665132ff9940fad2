import type { BenchResult } from '../result.ts';
import { escape } from './markup.ts';

export interface SvgOptions {
  /** @default 'auto' */
  theme?: 'auto' | 'light' | 'dark';
}

export function renderSvg(result: BenchResult, _options: SvgOptions = {}): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="820" height="40"><title>${escape(result.title)}</title></svg>\n`;
}
