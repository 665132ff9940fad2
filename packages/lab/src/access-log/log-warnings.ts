import { fixed, percent } from '../report/format.ts';
import { unexplained } from './formats/combined.ts';
import { guessFormat } from './declared-format.ts';
import type { LogCounts, MetFormat } from './logged-request.ts';

/** Returns the warnings about how a log was read, one sentence each. */
export function logWarnings({
  formats = [],
  withoutBegin = 0,
  lines,
  requests,
  unreadable,
  unreadableSamples,
}: LogCounts): string[] {
  return [
    ...(unreadable > 0
      ? [
          `${unreadable} of ${lines} lines could not be read. The first: ${unreadableSamples[0]!.slice(0, 160)}`,
        ]
      : []),
    ...(withoutBegin > 0
      ? [
          `${fixed(withoutBegin)} completed requests have no line that says what they asked for, so they are in no route.`,
        ]
      : []),
    ...formats.flatMap((format) => untimedWarning(format, formats, requests)),
  ];
}

/** Warns of requests without a duration, if others have one or their further fields may hold it. */
function untimedWarning(
  { name, duration, requests, untimedSample }: MetFormat,
  formats: readonly MetFormat[],
  all: number,
): string[] {
  if (untimedSample === undefined || duration !== undefined) return [];
  const isTimed = formats.some((each) => each.duration !== undefined);
  const guess = name === unexplained ? guessFormat(untimedSample) : undefined;
  if (guess !== undefined) {
    return [
      `The durations of ${percent(requests / all)} of the requests were not read: the fields after the agent are of no known format. The first line: ${untimedSample.slice(0, 240)} Name the fields with --format; by its look: --format '${guess}'`,
    ];
  }
  return isTimed
    ? [
        `${fixed(requests)} requests (${name}) have no durations; they count as requests, not as time.`,
      ]
    : [];
}

/** Returns the text for the header, such as `Read as ingress-nginx; duration: $request_time, in seconds`. */
export function formatText({ formats = [] }: LogCounts): string | undefined {
  const [first, ...others] = formats;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const duration = first.duration === undefined ? 'no durations' : `duration: ${first.duration}`;
  return `Read as ${first.name}${more}; ${duration}`;
}
