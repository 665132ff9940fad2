// https://llmstxt.org: what there is to read, for a program that reads.
import { type Section, sections, type StagedPage } from './pages.ts';

export function llms(staged: readonly StagedPage[]): string {
  const byRoute = new Map(staged.map((page) => [page.route, page]));
  const listOf = ({ title, pages }: Section): string => {
    const lines = pages.map(({ route }) => {
      const page = byRoute.get(route)!;
      return `- [${page.title}](/${route}.md)${page.description === '' ? '' : `: ${page.description}`}\n`;
    });
    return `\n## ${title}\n\n${lines.join('')}`;
  };
  return `# Redline

> Takes a Node.js backend to the limit of its machine, and proves it: a native HTTP engine under Express, Fastify and Nest, work
> after the response, processes started off the main thread, JSON cached as text, and a command that measures.

The command is \`npx @redline/lab\`; the package named \`redline\` on npm is an unrelated one. Every page below is Markdown.
${sections.map(listOf).join('')}`;
}
