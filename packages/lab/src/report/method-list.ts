import { markup } from './markup.ts';
import type { Section } from './section.ts';

/** Returns the section that explains how the figures of a page were obtained. */
export function methodList(sentences: readonly string[]): Section {
  return {
    id: 'method',
    heading: 'Method',
    body: markup`<ul class="method">${sentences.map((text) => markup`<li>${text}</li>`)}</ul>`,
    css: '.method li{color:var(--ink2);margin-bottom:var(--s2);max-width:118ch;text-wrap:pretty}',
  };
}
