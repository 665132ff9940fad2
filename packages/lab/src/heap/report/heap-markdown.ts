import {
  bold,
  code,
  escaped,
  heading,
  list,
  markdownOf,
  table,
  warningList,
} from '../../report/markdown.ts';
import type { HeapResult, HeapSite } from '../result.ts';
import {
  growthRows,
  growthText,
  howWords,
  kindsText,
  roundsText,
  shareText,
  shortPathText,
  siteTitle,
  sizeText,
  stackText,
  verdictText,
} from './heap-words.ts';

export function heapMarkdown(result: HeapResult): string {
  return markdownOf(
    heading(`${result.title}, ${result.variant}, Node ${result.node}`),
    warningList(result.warnings),
    `${bold(escaped(verdictText(result)))} (${escaped(roundsText(result))}, all garbage collected after each).`,
    list(result.sites.map((site) => siteText(site, result))),
    table(
      [
        'memory',
        { right: 'per 1,000 requests, 95 %' },
        { right: 'first round' },
        { right: 'last' },
      ],
      growthRows(result).map(({ name, interval, first, last }) => [
        name,
        escaped(growthText(interval)),
        sizeText(first),
        sizeText(last),
      ]),
    ),
  );
}

function siteText(site: HeapSite, result: HeapResult): string {
  const parts = [
    `${code(siteTitle(site))} ${bold(sizeText(site.bytes))} per 1,000 requests, ${shareText(site, result)}`,
    ...(site.line === '' ? [] : [`${code(site.line)}, ${escaped(howWords[site.how])}`]),
    `each request leaves ${escaped(kindsText(site))}`,
    `kept by ${code(shortPathText(site))}`,
    ...(site.stack.length === 0 ? [] : [`allocated in ${code(stackText(site, 4))}`]),
  ];
  return parts.join('; ');
}
