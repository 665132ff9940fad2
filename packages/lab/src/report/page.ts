import { createHash } from 'node:crypto';
import { escape, type Markup, markup, raw } from './markup.ts';
import { pageScript } from './script.ts';
import { pageStyle } from './style.ts';

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

export interface Page {
  /** Window title, without the brand. */
  title: string;
  /** Title, findings and facts, shown before any section. */
  header: Markup;
  sections: Section[];
}

/** Number of sections at which a menu saves more scrolling than it costs. */
const SECTIONS_WORTH_A_MENU = 4;

// Whisker ends take the colour of their line; an arrowhead means that the line continues.
const MARKERS = raw(
  '<svg class="defs" aria-hidden="true"><marker id="cap" markerUnits="userSpaceOnUse" markerWidth="3" markerHeight="10" refX="1.5" refY="5"><path d="M1.5 1V9" stroke="context-stroke" stroke-width="1.5"/></marker><marker id="cut" orient="auto-start-reverse" markerUnits="userSpaceOnUse" markerWidth="7" markerHeight="8" refX="6" refY="4"><path d="M0 0L7 4L0 8Z" fill="context-stroke"/></marker></svg>',
);

/**
 * Renders a single self-contained file that cannot load anything: its policy allows only this style and this script, by their hash.
 */
export function renderPage({ title, header, sections }: Page): string {
  const style = pageStyle + sections.map((section) => section.css ?? '').join('');
  const script = pageScript + sections.map((section) => section.script ?? '').join('');
  const policy = `default-src 'none'; style-src '${hash(style)}'; script-src '${hash(script)}'; base-uri 'none'; form-action 'none'`;
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="${policy}"><title>redline: ${escape(title)}</title><style>${style}</style>`;
  const body = markup`${MARKERS}<header>${header}${menu(sections)}</header><main>${sections.map(toMarkup)}</main><div id="tip" aria-hidden="true" hidden><b></b><span></span></div>`;
  return `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body>${body}<script>${script}</script></body></html>\n`;
}

function toMarkup({ id, heading, body }: Section): Markup {
  return markup`
<section id="${id}" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>${body}</section>`;
}

function menu(sections: readonly Section[]): Markup | undefined {
  if (sections.length < SECTIONS_WORTH_A_MENU) return undefined;
  const links = sections.map(({ id, heading }) => markup`<a href="#${id}">${heading}</a>`);
  return markup`<nav aria-label="Sections">${links}</nav>`;
}

function hash(content: string): string {
  return `sha256-${createHash('sha256').update(content).digest('base64')}`;
}
