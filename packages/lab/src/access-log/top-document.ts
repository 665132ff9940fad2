import {
  detail,
  type Document,
  figure,
  name,
  notes,
  plot,
  pointOf,
  type Section,
  table,
} from '../document/document.ts';
import { code, say, strong } from '../document/text.ts';
import { linearAxis } from '../report/axis.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { formatText } from './log-warnings.ts';
import type { RouteCost, TopResult } from './top.ts';

/**
 * Shows the routes by the time that all their requests took together.
 * @param rows Number of routes in a terminal.
 */
export function topDocument(result: TopResult, rows: number): Document {
  const { command, counts, folded } = result;
  const isTop = command === 'top';
  const format = formatText(counts);
  return {
    ...result,
    files: {},
    label: command.toUpperCase(),
    aside: spanText(result),
    about: [countsText(result), format],
    facts: [
      ['Files', result.files.join(', ')],
      ['Lines', countsText(result)],
      ['Requests', spanText(result)],
      format !== undefined && ['Format', format],
      folded && ['Folded', foldedText(folded)],
    ],
    findings: findings(result),
    sections: [routesSection(result, rows)],
    method: [
      isTop
        ? 'Durations are the log’s own: from request to response, so waiting for a database counts as much as work. For CPU, use redline flame and redline stairs.'
        : 'Requests were sent at their times in the log, whether or not earlier ones were answered, and timed from when they were due. Only GET and HEAD requests that succeeded are replayed, without their original headers and cookies.',
      'Segments of a path that are numbers, dates, UUIDs, hashes or long tokens are folded; --group names a pattern, --keep-query keeps queries apart.',
    ],
  };
}

function routesSection(result: TopResult, rows: number): Section {
  const { routes, hasDurations, folded, command } = result;
  const what = hasDurations ? 'time' : 'requests';
  const axis = linearAxis(routes.map(({ share }) => share * 100));
  const times = [
    figure('total s', ({ totalMs }: RouteCost) =>
      totalMs === undefined ? '–' : fixed(totalMs / 1_000, 1),
    ),
    figure('requests', ({ requests }: RouteCost) => fixed(requests)),
    figure('mean ms', ({ meanMs }: RouteCost) => milliseconds(meanMs)),
    figure('p50 ms', ({ p50Ms }: RouteCost) => milliseconds(p50Ms), { in: ['page', 'markdown'] }),
    figure('p99 ms', ({ p99Ms }: RouteCost) => milliseconds(p99Ms)),
  ];
  const shown = table<RouteCost>(
    routes,
    [
      name('route', (each) => code(labelOf(each)), { width: '34%' }),
      plot(
        `Share of ${what}, %`,
        axis,
        (each) => ({
          title: `${labelOf(each)}: ${percent(each.share)} of ${what}`,
          text: plural(each.requests, 'request'),
          estimate: pointOf(each.share * 100),
        }),
        { bars: true, in: ['page'] },
      ),
      figure('share', ({ share }) => percent(share), { isMain: true }),
      ...(hasDurations ? times : times.slice(1, 2)),
      figure('5xx', ({ serverErrors }) => fixed(serverErrors)),
      detail('example', ({ example }) => code(example), { in: ['page', 'markdown'] }),
    ],
    {
      limit: { terminal: rows, markdown: 40, page: 100 },
      rest: (from) => {
        const share = routes.slice(from).reduce((sum, each) => sum + each.share, 0);
        return `${plural(routes.length - from, 'more route')}, together ${percent(share)}`;
      },
    },
  );
  return {
    id: 'routes',
    heading: 'Routes',
    lead: `Routes by ${hasDurations ? 'the time all their requests took together' : 'requests: the log has no durations'}.`,
    parts: [
      shown,
      notes([folded && foldedText(folded)], ['terminal', 'markdown']),
      notes([
        hasDurations
          ? timesText[command]
          : 'The log has no durations: routes are ordered by requests.',
      ]),
    ],
  };
}

function findings({ routes: [first], hasDurations, counts }: TopResult): Document['findings'] {
  return [
    first && {
      word: 'first',
      text: say`${strong(labelOf(first))}: ${percent(first.share)} of all ${hasDurations ? 'time' : 'requests'}, ${plural(first.requests, 'request')}. Measure it with ${code(first.example)}.`,
    },
    counts.unreadable > 0 && {
      word: 'not read',
      text: say`${plural(counts.unreadable, 'line')} could not be read, such as ${code(counts.unreadableSamples[0] ?? '')}`,
    },
  ];
}

const timesText = {
  top: 'total: sum of the times from request to response. It includes waiting as well as work.',
  replay:
    'Times are from the intended send to the last byte, so a server that stalls cannot hide its queue.',
};

function labelOf({ method, route }: RouteCost): string {
  return `${method} ${route}`;
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

function spanText({ spanSeconds, counts }: TopResult): string {
  const requests = plural(counts.requests, 'request');
  return spanSeconds === undefined ? requests : `${requests} in ${seconds(spanSeconds)}`;
}

function foldedText(folded: readonly string[]): string {
  const more = folded.length > 5 ? ` and ${folded.length - 5} more` : '';
  return `Levels with hundreds of values are one route each: ${folded.slice(0, 5).join(', ')}${more}. --group names them yourself.`;
}

function countsText({ command, counts }: TopResult): string {
  const { lines, other, unreadable } = counts;
  if (command === 'replay') return `${fixed(counts.requests)} of ${fixed(lines)} answered`;
  return `${plural(lines, 'line')}: ${fixed(counts.requests)} requests, ${fixed(other)} other, ${fixed(unreadable)} unreadable`;
}
