import type { Markup } from './markup.ts';

/** A part of a page. A command adds one for each question it answers. */
export interface Section {
  /** Anchor, and scope of its styles. */
  id: string;
  heading: string;
  body: Markup;
  /** Rules only this section needs, `:root{--…}` of its plots included. */
  css?: string;
  /** What only this section does, as one statement. It runs after the page's own. */
  script?: string;
}
