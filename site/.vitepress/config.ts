import { defineConfig, type DefaultTheme } from 'vitepress';
import apiSidebar from '../pages/api/sidebar.json' with { type: 'json' };
import { design, guides, packages, rules, type Section } from '../pages.ts';

/** Characters of code that still fit on a phone beside a word. */
const longestUnbroken = 26;

export default defineConfig({
  title: 'Redline',
  description: 'Takes a Node.js backend to the limit of its machine, and proves it.',
  lang: 'en-GB',
  srcDir: 'pages',
  // What llms.txt lists is copied as it is.
  srcExclude: ['public/**'],
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  markdown: {
    anchor: { slugify: asGitHub },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      md.renderer.rules['code_inline'] = (tokens, index) => {
        const { content } = tokens[index]!;
        // The name of an option must not break at a hyphen. And Vue would read {{id}} as its own.
        const attributes = content.length <= longestUnbroken ? ' class="short"' : '';
        return `<code v-pre${attributes}>${md.utils.escapeHtml(content)}</code>`;
      };
      // A head without words is not one.
      md.core.ruler.push('empty-heads', ({ tokens }) => {
        for (const [index, token] of tokens.entries()) {
          if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue;
          token.tag = 'td';
          tokens[index + 2]!.tag = 'td';
        }
      });
    },
  },
  transformPageData({ frontmatter }) {
    // What is generated has its sources beside each name.
    if (frontmatter['source'] === undefined) frontmatter['editLink'] = false;
  },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guide/first-afternoon', activeMatch: '^/guide/' },
      { text: 'Packages', link: '/packages/http', activeMatch: '^/(?:packages|examples)/' },
      { text: 'Rules', link: '/packages/eslint-plugin', activeMatch: '^/(?:rules|myths)/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Design', link: '/design/', activeMatch: '^/design/' },
    ],
    sidebar: {
      '/guide/': sidebarOf(guides),
      '/packages/': sidebarOf(packages),
      '/examples/': sidebarOf(packages),
      '/rules/': sidebarOf(rules),
      '/myths/': sidebarOf(rules),
      '/design/': sidebarOf(design),
      '/api/': apiSidebar as DefaultTheme.SidebarItem[],
    },
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    editLink: {
      text: 'The source of this page',
      pattern: ({ frontmatter }) =>
        `https://github.com/redline/redline/blob/main/${frontmatter['source'] as string}`,
    },
  },
});

function sidebarOf(sections: readonly Section[]): DefaultTheme.SidebarItem[] {
  return sections.map(({ title, pages }) => ({
    text: title,
    items: pages.map(({ route, label }) => ({
      text: label,
      link: `/${route.replace(/\bindex$/, '')}`,
    })),
  }));
}

/** The anchors are those that the links of the repository's own pages name. */
function asGitHub(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}
