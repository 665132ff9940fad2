// The links of a page lead to files of the repository. On the site they lead to the page made of that file, or to the file
// where the repository is kept.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pages, root } from './pages.ts';

const repository = 'https://github.com/redline/redline';

const routes = new Map(
  pages.flatMap(({ source, route }) => namesOf(source).map((name) => [name, route])),
);

/** A page is meant by its file, and by its folder where it is the README of that. */
function namesOf(source: string): string[] {
  return source.endsWith('/README.md') ? [source, dirname(source)] : [source];
}

/** @param source The page, from the root of the repository. */
export function rewriteLinks(text: string, source: string): string {
  return outsideCode(text, (prose) =>
    prose
      .replaceAll(
        /(\]\()([^)\s]+)(\))/g,
        (_, open: string, target: string, close: string) =>
          `${open}${addressOf(target, source, '.md')}${close}`,
      )
      .replaceAll(
        /(\b(?:src|srcset|href)=")([^"]+)(")/g,
        (_, open: string, target: string, close: string) =>
          `${open}${addressOf(target, source, '.html')}${close}`,
      ),
  );
}

/** Where the repository is kept; the link below a page. */
export function sourceUrl(path: string): string {
  const kind = statSync(join(root, path)).isDirectory() ? 'tree' : 'blob';
  return `${repository}/${kind}/main/${path}`;
}

/** Whether an address in the repository, if it is one, is that of a file or folder there. */
export function isInRepository(href: string): boolean {
  if (!href.startsWith(`${repository}/blob/`) && !href.startsWith(`${repository}/tree/`))
    return true;
  const [, path] = /\/(?:blob|tree)\/main\/([^#?]+)/.exec(href) ?? [];
  return path !== undefined && existsSync(join(root, decodeURIComponent(path)));
}

/** VitePress knows a page as its file; in the HTML of a page it is what the browser asks for. */
function addressOf(target: string, source: string, ending: '.md' | '.html'): string {
  if (/^(?:[a-z]+:|#|\/)/.test(target)) return target;
  const [file, hash] = target.split('#', 2) as [string, string?];
  const path = join(dirname(source), file).replace(/\/$/, '');
  if (!existsSync(join(root, path)))
    throw new Error(`${source} links to ${target}, which is missing.`);
  const anchor = hash === undefined ? '' : `#${hash}`;
  if (path.startsWith('docs/') && path.endsWith('.svg')) return `/${path.slice('docs/'.length)}`;
  if (path === 'README.md' && anchor === '') return '/';
  const route = routes.get(path);
  if (route !== undefined) return `/${route}${ending}${anchor}`;
  return `${sourceUrl(path)}${anchor}`;
}

/** Applies a change to all but fenced code and code spans. */
function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[^]*?^```|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}
