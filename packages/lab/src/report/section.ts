import type { Markup } from './markup.ts';

/** A part of a page. A command adds one for each question it covers. */
export interface Section {
  /** Anchor, and scope of the section's styles. */
  id: string;
  heading: string;
  body: Markup;
  /** Rules that only this section needs, including `:root{--…}` of its plots. */
  css?: string;
  /** Script of this section, as one statement. It runs after the page's own. */
  script?: string;
}
