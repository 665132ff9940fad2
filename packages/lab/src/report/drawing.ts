/** Drawing functions of the reports, for other pictures in the same style. */
export { linearAxis, logAxis, type Axis, type Tick } from './axis.ts';
export { fixed } from './format.ts';
export { markup, raw, type Markup } from './markup.ts';
export { fitText, textWidth } from './text-width.ts';
export { coloursOf, MONO, SANS } from './tokens.ts';
