/** All colours of all outputs: light, then dark. */
const COLOURS = {
  bg: ['#ffffff', '#131619'],
  soft: ['#f5f6f8', '#1b1f23'],
  band: ['#e6eaee', '#2a3138'],
  rule: ['#d5dae0', '#353c44'],
  grid: ['#e9ecef', '#242a30'],
  ink: ['#1a1d21', '#e8eaed'],
  ink2: ['#4f575f', '#aab2ba'],
  link: ['#0b57a4', '#7bb8f0'],
  mark: ['#33393f', '#d5d9dd'],
  bar: ['#7d93a8', '#64798d'],
  'bar-base': ['#8b9095', '#70767c'],
  better: ['#0b5cad', '#6db2f2'],
  worse: ['#a84300', '#f2975c'],
  'better-fill': ['#5b93cc', '#3f78b0'],
  'worse-fill': ['#cf7b41', '#a8602f'],
  't-i': ['#d9762b', '#d9762b'],
  't-s': ['#f3d35e', '#e6c64c'],
  't-m': ['#9ccbec', '#8cc0e6'],
  't-t': ['#1f5f99', '#2a6ba8'],
  't-0': ['#dfe3e7', '#3a4149'],
  'on-dark': ['#ffffff', '#ffffff'],
  'on-light': ['#1a1d21', '#1a1d21'],
} as const;

export const SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif';
export const MONO = 'ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace';

export type Theme = 'light' | 'dark';

/** Follows `color-scheme`, so one attribute switches the page. */
export const ADAPTIVE_COLOURS: string = Object.entries(COLOURS)
  .map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark})`)
  .join(';');

/** Returns the colours of one theme, for places where `light-dark()` is not safe to rely on. */
export function coloursOf(theme: Theme): string {
  const index = theme === 'light' ? 0 : 1;
  return Object.entries(COLOURS)
    .map(([name, pair]) => `--${name}:${pair[index]}`)
    .join(';');
}
