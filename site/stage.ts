// Writes what VitePress reads: every page with its links made those of the site, the first page with its figures, the
// pictures, and llms.txt. All of it is made again each time.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { coloursOf, MONO, SANS } from '@redline/lab/drawing';
import { home } from './home.ts';
import { rewriteLinks } from './links.ts';
import { llms } from './llms.ts';
import { type Page, pages, root, type StagedPage } from './pages.ts';

/** Of VitePress; the config names it too. */
export const folder: string = join(import.meta.dirname, 'pages');

export function stage(): void {
  for (const name of globSync('!(api)', { cwd: folder })) {
    rmSync(join(folder, name), { recursive: true });
  }
  const staged = pages.map(stagePage);
  write('index.md', home());
  for (const picture of globSync('docs/**/*.svg', { cwd: root })) {
    const target = join(folder, 'public', picture.slice('docs/'.length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, picture), target);
  }
  write('public/llms.txt', llms(staged));
  write('public/favicon.svg', favicon);
  write(
    'tokens.css',
    `:root{color-scheme:light;${coloursOf('light')}}\n.dark{color-scheme:dark;${coloursOf('dark')}}\n:root{--vp-font-family-base:${SANS};--vp-font-family-mono:${MONO}}\n`,
  );
}

function stagePage(page: Page): StagedPage {
  const text = rewriteLinks(readFileSync(join(root, page.source), 'utf8'), page.source);
  const title = plain(/^# (.+)$/m.exec(text)?.[1] ?? page.label);
  const description = descriptionOf(text);
  const matter = { title, description, source: page.source };
  const lines = Object.entries(matter).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  write(`${page.route}.md`, `---\n${lines.join('')}---\n\n${text}`);
  // For readers that are programs; llms.txt lists them.
  write(`public/${page.route}.md`, text);
  return { ...page, title, description };
}

/** The first paragraph of prose. */
function descriptionOf(text: string): string {
  const paragraph = text
    .replaceAll(/^```[^]*?^```|<!--[^]*?-->|^#.*$/gm, '')
    .split(/\n{2,}/)
    .map((each) => each.trim())
    .find((each) => /^[A-Za-z`*[]/.test(each));
  return plain(paragraph ?? '').replaceAll(/\s+/g, ' ');
}

function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

function write(file: string, text: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Two steps of a ladder, in the colours of the reports. */
const favicon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 3h14v4H1z" fill="#8b9095"/><path d="M1 9h7v4H1z" fill="#5b93cc"/></svg>\n';
