/** What the pictures of reports are drawn with, for others of the same look. */
export { linearAxis, logAxis, type Axis, type Tick } from './axis.ts';
export { fixed } from './format.ts';
export { markup, raw, type Markup } from './markup.ts';
export { fitText, textWidth } from './text-width.ts';
export { coloursOf, MONO, SANS } from './tokens.ts';
