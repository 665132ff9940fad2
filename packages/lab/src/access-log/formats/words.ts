import type { LogFormat, LoggedRequest } from '../logged-request.ts';
import { durationIn, requestOf } from './fields.ts';

const at = '2026-10-10T13:55:36.000Z';
const reading: LoggedRequest = {
  method: 'GET',
  path: '/users/1?x=2',
  status: 200,
  durationMs: 401,
};
const timed = { ...reading, time: Date.parse(at) };
const duration = 'the last time that has its unit';

/** Formats in which a logger writes a request as plain text. */
export const wordFormats: readonly LogFormat[] = [
  { name: 'morgan tiny', duration, sample: 'GET /users/1?x=2 200 10 - 401 ms', reading },
  {
    name: 'morgan dev',
    duration,
    sample: '\u001b[0mGET /users/1?x=2 \u001b[32m200\u001b[0m 401 ms - 10\u001b[0m',
    reading,
  },
  {
    name: 'morgan short',
    duration,
    sample: '127.0.0.1 - GET /users/1?x=2 HTTP/1.1 200 10 - 401 ms',
    reading,
  },
  {
    name: 'winston simple',
    duration,
    sample: '\u001b[32mhttp\u001b[39m: GET /users/1?x=2 200 10 - 401 ms',
    reading,
  },
  {
    name: 'winston printf',
    duration,
    sample: `${at} http: GET /users/1?x=2 200 401 ms`,
    reading: timed,
  },
  {
    name: 'winston JSON',
    duration,
    sample: JSON.stringify({
      level: 'http',
      message: 'GET /users/1?x=2 200 10 - 401 ms\n',
      timestamp: at,
    }),
    reading: timed,
  },
  {
    name: 'Nest',
    duration,
    sample: '[Nest] 17  - 10/10/2026, 3:41:05 AM     LOG [HTTP] GET /users/1?x=2 200 401ms +9ms',
    reading: { ...reading, time: Date.parse('10/10/2026, 3:41:05 AM') },
  },
];

/**
 * Matches morgan's `GET /x 200 12 - 3.4 ms`, also with a level, a time or a context before it. The target ends at a space or a
 * quote: `:443` in a URL is not a status. A number before ` - ADDRESS` is the port in an IIS log, and after a whole request line in
 * quotes the next number may be any field of a proxy.
 */
const words =
  /(?:^|[\s["'(])(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[\]"')]?:? +"?((?:https?:\/)?\/[^\s"|]*?)[,:]?(?:"| HTTP\/[\d.]+(?!["\d.]))?(?=[\s|–—])[\s,:|>–—-]+(?:status(?:Code)?[=: ]+)?\(?([1-5]\d\d)\b(?! - (?:- )?\d+\.\d+\.\d+\.\d+ )(.*)$/;
const nest = /^\[[^\]]+\] \d+ +- /;
/** Prefixes written by loggers: `[Nest] 17 - …`, `info: …`, `2026-11-23T02:00:00.000Z [info] …`. */
const ofLogger =
  /^\[[^\]]+\] \d+ +- |^(?:\S+ )?\[?(?:error|warn|info|http|verbose|debug|silly)\]?: ?\S/i;

export function isOfLogger(text: string): boolean {
  return ofLogger.test(text);
}

/** Reads a finished request from the text of a logger. */
export function readWords(text: string): LoggedRequest | undefined {
  const found = words.exec(text);
  if (found === null) return undefined;
  const [, method, target, status, after] = found;
  // Nest appends the time since its last line.
  const rest = nest.test(text) ? after!.replace(/ \+\d+ms$/, '') : after!;
  return requestOf({
    method,
    target,
    status,
    time: timeIn(text.slice(0, found.index)),
    durationMs: durationIn(rest),
  });
}

function timeIn(text: string): string | undefined {
  const found =
    /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/.exec(text)?.[0] ??
    /\d+\/\d+\/\d{4}, \d+:\d+:\d+(?:\s[AP]M)?/.exec(text)?.[0];
  return found?.replaceAll(/\s/g, ' ');
}
