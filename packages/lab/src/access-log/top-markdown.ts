import { fixed, percent, plural, seconds } from '../report/format.ts';
import { code, escaped, heading, markdownOf, table, warningList } from '../report/markdown.ts';
import type { TopResult } from './top.ts';

const maxRows = 40;

/** Renders the routes as the terminal lists them. */
export function topMarkdown(result: TopResult): string {
  const { routes, hasDurations, counts, spanSeconds } = result;
  const figure = (value: number | undefined, scale = 1): string =>
    value === undefined ? '–' : fixed(value / scale, scale === 1 && value < 100 ? 2 : 1);
  const rows = routes
    .slice(0, maxRows)
    .map((each) => [
      code(`${each.method} ${each.route}`),
      percent(each.share),
      ...(hasDurations ? [figure(each.totalMs, 1_000)] : []),
      fixed(each.requests),
      ...(hasDurations ? [figure(each.meanMs), figure(each.p50Ms), figure(each.p99Ms)] : []),
      fixed(each.serverErrors),
      code(each.example),
    ]);
  const columns = [
    'route',
    { right: `share of ${hasDurations ? 'time' : 'requests'}` },
    ...(hasDurations ? [{ right: 'total s' }] : []),
    { right: 'requests' },
    ...(hasDurations ? [{ right: 'mean ms' }, { right: 'p50 ms' }, { right: 'p99 ms' }] : []),
    { right: '5xx' },
    'example',
  ];
  const rest = routes.length - maxRows;
  return markdownOf(
    heading(result.title),
    warningList(result.warnings),
    escaped(
      `${plural(counts.requests, 'request')}${spanSeconds === undefined ? '' : ` in ${seconds(spanSeconds)}`}.`,
    ),
    table(columns, rows),
    rest > 0 ? `${plural(rest, 'more route')}.` : undefined,
  );
}
