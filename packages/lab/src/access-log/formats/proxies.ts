import type { LogFormat, LoggedRequest } from '../logged-request.ts';
import { type DurationUnit, requestOf, toMs } from './fields.ts';

/** A format whose whole line one expression matches; its groups name the fields. */
export interface TextFormat extends LogFormat {
  line: RegExp;
  unit?: DurationUnit;
}

const at = '2026-10-10T13:55:36.000Z';
const time = Date.parse(at);
const reading: LoggedRequest = {
  method: 'GET',
  path: '/users/1?x=2',
  status: 200,
  time,
  durationMs: 401,
};

/** Load balancers and proxies that do not write the common format. */
export const proxyFormats: readonly TextFormat[] = [
  {
    name: 'AWS Application Load Balancer',
    line: /^(?:https?|h2|grpcs?|wss?) (?<time>\S+) \S+ \S+ \S+ (?<took>-?[\d.]+) (?<took2>-?[\d.]+) (?<took3>-?[\d.]+) (?<status>\d{3}|-) \S+ \d+ \d+ "(?<method>[A-Z]+) (?<target>\S+) [^"]*"/,
    unit: 's',
    duration: 'request, target and response processing time together, in seconds',
    sample: `https ${at} app/lb/50dc 10.0.1.2:48160 10.0.0.66:9000 0.000 0.401 0.000 200 200 257 1000 "GET https://api.example.com:443/users/1?x=2 HTTP/2.0" "curl/7.46.0" ECDHE TLSv1.2 arn:aws "Root=1-5" "-" "-" 0 ${at} "forward" "-" "-" "10.0.0.66:9000" "200" "-" "-"`,
    reading,
  },
  {
    name: 'AWS Classic Load Balancer',
    line: /^(?<time>\d{4}-\S+) \S+ \d\S*:\d+ \S+ (?<took>-?[\d.]+) (?<took2>-?[\d.]+) (?<took3>-?[\d.]+) (?<status>\d{3}) \S+ \d+ \d+ "(?<method>[A-Z]+) (?<target>\S+) [^"]*"/,
    unit: 's',
    duration: 'request, backend and response processing time together, in seconds',
    sample: `${at} my-lb 10.0.1.2:2817 10.0.0.1:80 0.000 0.400 0.001 200 200 0 29 "GET http://www.example.com:80/users/1?x=2 HTTP/1.1" "curl/7.38.0" - -`,
    reading,
  },
  {
    name: 'HAProxy HTTP',
    line: /\[(?<time>\d+\/\w+\/\d+:[\d:.]+)\] \S+ \S+ -?\d+\/-?\d+\/-?\d+\/-?\d+\/\+?(?<took>\d+) (?<status>\d{3}|-1) \+?\d+ \S+ \S+ \S{4} \S+ \S+ (?:\{[^}]*\} )*"(?<method>[A-Z]+) (?<target>\S+)/,
    unit: 'ms',
    duration: 'the last of the five timers, in milliseconds',
    sample:
      'Oct 10 13:55:36 lb haproxy[14389]: 10.0.1.2:33317 [10/Oct/2026:13:55:36.000] http-in api/web1 0/0/1/399/401 200 2750 - - ---- 1/1/1/1/0 0/0 {example.com} {} "GET /users/1?x=2 HTTP/1.1"',
    reading,
  },
  {
    name: 'Istio',
    line: /^\[(?<time>[^\]]+)\] "(?<method>[A-Z]+) (?<target>\S+) HTTP\/[\d.]+" (?<status>\d{3}) \S+ \S+ \S+ (?:"[^"]*"|-) \d+ \d+ (?<took>\d+) (?:\d+|-) "/,
    unit: 'ms',
    duration: '%DURATION%, in milliseconds',
    sample: `[${at}] "GET /users/1?x=2 HTTP/1.1" 200 - via_upstream - "-" 0 1000 401 399 "-" "curl/8" "0f1e" "api:3000" "10.0.0.7:3000" inbound|3000||`,
    reading,
  },
  {
    name: 'Envoy',
    line: /^\[(?<time>[^\]]+)\] "(?<method>[A-Z]+) (?<target>\S+) HTTP\/[\d.]+" (?<status>\d{3}) \S+ \d+ \d+ (?<took>\d+) (?:\d+|-) "/,
    unit: 'ms',
    duration: '%DURATION%, in milliseconds',
    sample: `[${at}] "GET /users/1?x=2 HTTP/2" 200 - 154 1000 401 399 "10.0.35.28" "curl/8" "cc21" "api" "10.0.2.1:80"`,
    reading,
  },
  {
    name: 'Heroku router',
    line: /^(?:(?<time>\d{4}-\S+) )?(?:heroku\[router\]: )?at=\w+ .*?\bmethod=(?<method>[A-Z]+) path="?(?<target>[^\s"]+)"? .*?\bconnect=(?<took>\d+)ms service=(?<took2>\d+)ms status=(?<status>\d{3})/,
    unit: 'ms',
    duration: 'connect and service together, in milliseconds',
    sample: `${at} heroku[router]: at=info method=GET path="/users/1?x=2" host=example.com request_id=8601 fwd="10.0.0.1" dyno=web.1 connect=1ms service=400ms status=200 bytes=1548 protocol=https`,
    reading,
  },
  {
    name: 'CloudFront, without its header',
    line: /^(?<date>\d{4}-\d\d-\d\d)\t(?<clock>[\d:]+)\t\S+\t\d+\t\S+\t(?<method>[A-Z]+)\t\S+\t(?<target>\S+)\t(?<status>\d{3})\t[^\t]*\t[^\t]*\t(?<query>[^\t]*)\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t(?<took>[\d.]+)(?=\t|$)/,
    unit: 's',
    duration: 'time-taken, in seconds',
    sample:
      '2026-10-10\t13:55:36\tFRA2-C1\t2390\t10.0.0.1\tGET\td1.cloudfront.net\t/users/1\t200\t-\tcurl/8\tx=2\t-\tMiss\t0f1e\texample.com\thttps\t23\t0.401\t-',
    reading,
  },
  {
    name: 'koa-logger or Hono',
    line: /^\s*(?:-->|<--) (?<method>[A-Z]+) (?<target>\/\S*) (?<status>[1-5]\d\d)(?: (?<took>[\d.]+(?:ms|s)))?(?: \S+)?$/,
    unit: 'ms',
    duration: 'the time with its unit',
    sample: '  --> GET /users/1?x=2 200 401ms 10b',
    reading: { method: 'GET', path: '/users/1?x=2', status: 200, durationMs: 401 },
  },
  {
    name: 'Next.js',
    line: /^\s*(?<method>[A-Z]+) (?<target>\/\S*) (?<status>[1-5]\d\d) in (?<took>[\d.]+ ?(?:ms|s))/,
    unit: 'ms',
    duration: 'the time with its unit',
    sample: ' GET /users/1?x=2 200 in 401ms (next.js: 5ms, application-code: 396ms)',
    reading: { method: 'GET', path: '/users/1?x=2', status: 200, durationMs: 401 },
  },
];

/** Tried last, on an unwrapped line: these also match lines that another format reads better. */
export const looseFormats: readonly TextFormat[] = [
  {
    name: 'combined, with the host before the request or the time first',
    line: /^(?=[^"]*\[?\d)(?:\S+ )*?\[?(?<time>\d+\/\w{3}\/\d+:[\d:]+ [+-]\d{4})\]? (?:"?[^\s"]+"? )*?"(?<method>[A-Z]{3,10}) (?<target>\S+)(?: HTTP\/[\d.]+)?" (?<status>\d{3}) (?:\d+|-)/,
    sample:
      '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "example.com" "GET /users/1?x=2 HTTP/1.1" 200 23 "-" "curl/8" 0.2 12',
    reading: { method: 'GET', path: '/users/1?x=2', status: 200, time },
  },
];

/** Reads a line by the first format that matches; the last one that did is tried first. */
export class TextReader {
  readonly #formats: readonly TextFormat[];
  #last: TextFormat | undefined;

  constructor(formats: readonly TextFormat[]) {
    this.#formats = formats;
  }

  /** The format of the last line read. */
  get format(): TextFormat {
    return this.#last!;
  }

  read(text: string): LoggedRequest | undefined {
    for (const format of [this.#last, ...this.#formats]) {
      const request = format && readBy(format, text);
      if (request !== undefined) {
        this.#last = format;
        return request;
      }
    }
    return undefined;
  }
}

function readBy({ line, unit }: TextFormat, text: string): LoggedRequest | undefined {
  const fields = line.exec(text)?.groups;
  if (fields === undefined) return undefined;
  const { date, clock, query } = fields;
  return requestOf({
    method: fields['method'],
    target:
      query === undefined || query === '-' ? fields['target'] : `${fields['target']}?${query}`,
    request: fields['request'],
    status: fields['status'],
    time: date === undefined ? fields['time'] : `${date}T${clock}Z`,
    durationMs: unit && tookMs(fields, unit),
  });
}

/** Sums the parts of a duration; a part that did not happen is −1. */
function tookMs(
  fields: Record<string, string | undefined>,
  unit: DurationUnit,
): number | undefined {
  const parts = ['took', 'took2', 'took3'].map((name) => toMs(fields[name], unit));
  const known = parts.filter((part) => part !== undefined && part >= 0) as number[];
  return known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0);
}
