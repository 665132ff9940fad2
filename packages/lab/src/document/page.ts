import { commandHeader } from '../report/command-header.ts';
import { markup, type Markup } from '../report/markup.ts';
import { renderPage, type Section as PageSection } from '../report/page.ts';
import {
  type Document,
  type Drawing,
  isIn,
  isText,
  type Item,
  type Part,
  present,
  type Section,
} from './document.ts';
import { type TableOfPage, tableOfPage } from './page-table.ts';
import { toMarkup } from './text.ts';

/** Renders a document as one self-contained file. */
export function renderPageOf(document: Document): string {
  const { alarm, findings = [], facts, sections, method = [], limits, next } = document;
  const title = document.pageTitle ?? document.title;
  return renderPage({
    title,
    header: commandHeader(
      { ...document, title, alarm: alarm === undefined ? undefined : toMarkup(alarm) },
      present(findings).map(({ word, text }) => ({ word: toMarkup(word), text: toMarkup(text) })),
      present(facts),
      document.resolution,
    ),
    sections: [
      ...present(sections).flatMap(pageSections),
      ...(next === undefined ? [] : [{ id: 'next', heading: 'Next', body: commandList([next]) }]),
      ...(method.length > 0 ? [methodSection(present(method), limits)] : []),
    ],
  });
}

/** Returns a section of a page; none without a part for it. */
function pageSections(section: Section | Drawing): PageSection[] {
  if (!('parts' in section)) return section.page === undefined ? [] : [section.page];
  const { id, heading, lead, parts } = section;
  const bodies = parts
    .filter((part) => isIn('page', part))
    .map((part, index) => bodyOf(part, `${id}-${index}`));
  if (bodies.length === 0) return [];
  return [
    {
      id,
      heading,
      body: markup`${lead !== undefined && markup`<p class="lead">${toMarkup(lead)}</p>`}${bodies.map(({ body }) => body)}`,
      css: bodies.map(({ css }) => css).join(''),
    },
  ];
}

function bodyOf(part: Part, id: string): TableOfPage {
  switch (part.kind) {
    case 'table':
      return tableOfPage(part, id);
    case 'notes':
      return only(
        markup`${present(part.texts).map((text) => markup`<p class="lead note">${toMarkup(text)}</p>`)}`,
      );
    case 'commands':
      return only(commandList(part.lines));
    case 'items':
      return only(markup`<ol class="items">${part.items.map(itemOf)}</ol>`);
    case undefined:
      return only(part.page ?? markup``);
  }
}

function only(body: Markup): TableOfPage {
  return { body, css: '' };
}

function itemOf({ title, aside, lines }: Item): Markup {
  const texts = present(lines).map((line) =>
    isText(line) ? markup`<p>${toMarkup(line)}</p>` : (line.page ?? markup``),
  );
  return markup`<li><h3>${toMarkup(title)} <span>${aside}</span></h3>${texts}</li>
`;
}

function commandList(lines: readonly string[]): Markup {
  return markup`<ul>${lines.map((line) => markup`<li><code>${line}</code></li>`)}</ul>`;
}

/** Explains how the figures were obtained, for a critical reader. */
function methodSection(method: readonly string[], limits?: readonly string[]): PageSection {
  const list = (texts: readonly string[]): Markup =>
    markup`<ul>${texts.map((text) => markup`<li>${text}</li>`)}</ul>`;
  return {
    id: 'method',
    heading: 'Method',
    body:
      limits === undefined
        ? list(method)
        : markup`<div class="pair"><div><h3>What was done</h3>${list(method)}</div><div><h3>What it does not prove</h3>${list(limits)}</div></div>`,
    css: '#method .pair{display:grid;grid-template-columns:1fr 1fr;gap:var(--s3) var(--s5);margin-top:var(--s2)}#method li{color:var(--ink2);margin-bottom:var(--s2);max-width:118ch;text-wrap:pretty}@media screen and (max-width:960px){#method .pair{grid-template-columns:minmax(0,1fr)}}',
  };
}
