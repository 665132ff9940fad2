import type { LogFormat, LoggedRequest } from '../logged-request.ts';
import { type DurationUnit, requestOf, toMs } from './fields.ts';

/** Fields after the common or combined format, with their meaning. */
interface Layout extends LogFormat {
  /** Matches everything after the size or the agent; its group is the duration. */
  after: RegExp;
  unit?: DurationUnit;
}

const time = Date.parse('2026-10-10T13:55:36Z');
const head = '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /users/1?x=2 HTTP/1.1" 200 23';
const agent = `${head} "-" "curl/8.0"`;
const plain: LoggedRequest = { method: 'GET', path: '/users/1?x=2', status: 200, time };
const in401: LoggedRequest = { ...plain, durationMs: 401 };

/** nginx writes its times with exactly three decimals, and `$msec` with ten digits before them. */
const seconds = String.raw`"?(\d{1,5}\.\d{3})"?`;
const quoted = String.raw`"(?:[^"\\]|\\.)*"`;

/** The first match counts, so the narrow layouts come first. */
export const combinedLayouts: readonly Layout[] = [
  { name: 'combined', after: /^$/, sample: agent, reading: plain },
  { name: 'common', after: /^$/, sample: head, reading: plain },
  {
    name: 'nginx main (the forwarded address at the end)',
    after: new RegExp(`^ ${quoted}$`),
    sample: `${agent} "10.0.0.1, 10.0.0.2"`,
    reading: plain,
  },
  {
    name: 'nginx with $request_time',
    after: new RegExp(`^(?: ${quoted})? ${seconds}$`),
    unit: 's',
    duration: '$request_time, in seconds',
    sample: `${agent} 0.401`,
    reading: in401,
  },
  {
    name: 'nginx with $request_time and $upstream_response_time',
    after: new RegExp(
      String.raw`^(?: ${quoted})? ${seconds} "?(?:\d+\.\d{3}|-)(?:[,:] (?:\d+\.\d{3}|-))*"?(?: [.p])?$`,
    ),
    unit: 's',
    duration: 'the first of the two times, $request_time, in seconds',
    sample: `${agent} "10.0.0.1" 0.401 0.399 .`,
    reading: in401,
  },
  {
    name: 'ingress-nginx',
    after: new RegExp(String.raw`^ \d+ ${seconds} \[[^\]]*\](?: \[[^\]]*\])? `),
    unit: 's',
    duration: '$request_time, in seconds',
    sample: `${agent} 350 0.401 [default-api-80] [] 10.244.0.7:3000 1000 0.399 200 8d3c0f`,
    reading: in401,
  },
  {
    name: 'nginx with $msec before $request_time',
    after: new RegExp(String.raw`^(?: \S+)*? \d{10}\.\d{3} ${seconds}(?= |$)`),
    unit: 's',
    duration: '$request_time after $msec, in seconds',
    sample: `${agent} "10.0.0.1" 7f3a 1791640536.123 0.401 0.399`,
    reading: in401,
  },
  {
    name: 'Traefik, common',
    after: / \d+ "[^"]*" "[^"]*" (\d+)ms$/,
    unit: 'ms',
    duration: 'the last field, in milliseconds',
    sample: `${agent} 12 "api@docker" "http://10.0.0.7:3000" 401ms`,
    reading: in401,
  },
  {
    name: 'nginx or Apache with a named duration',
    after:
      /[ "](?:rt|request_time|req_time|reqtime|request-time)[=:] ?"?(\d{1,5}(?:\.\d+)?)(?=["\s,;]|$)/,
    unit: 's',
    duration: 'the field rt or request_time, in seconds',
    sample: `${agent} rt=0.401 urt="0.399"`,
    reading: in401,
  },
  {
    name: 'Apache with %D',
    after: /^ (\d+)$/,
    unit: 'µs',
    duration: 'the number at the end, as Apache’s %D in microseconds',
    sample: `${agent} 401000`,
    reading: in401,
  },
  {
    name: 'Apache combinedio',
    after: /^ \d+ \d+$/,
    sample: `${agent} 350 1240`,
    reading: plain,
  },
  {
    name: 'morgan combined or common, with the response time',
    after: /(?:^| )(\d+(?:\.\d+)?) ?ms$/,
    unit: 'ms',
    duration: 'the time in ms at the end',
    sample: `${agent} - 401 ms`,
    reading: in401,
  },
  {
    name: 'combined with a duration that has its unit',
    after: /(?:^|[ =])"?(\d+(?:\.\d+)?) ?s"?$/,
    unit: 's',
    duration: 'the time in s at the end',
    sample: `${agent} 0.401s`,
    reading: in401,
  },
];

/** Name for lines whose further fields match no known layout: the request is read, the duration is missing. */
export const unexplained = 'combined, with other fields';

/** The optional `\S+ ` before the address is Apache's virtual host; a CRI line must not match, as it is unwrapped first. */
const line =
  /^(?!\d{4}-\S+ std(?:out|err) )(?:\S+ )?\S+ \S+ [^["]*\[([^\]]+)\] "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3}) (?:\d+|-)(?: "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*")?(.*)$/;

/** Reads the common and combined formats of nginx, Apache and morgan, with the fields appended to them. */
export class CombinedReader {
  /** Tried first, because the lines of a log share one layout. */
  #last: Layout = combinedLayouts[0]!;
  #name = '';
  #unit: string | undefined;

  /** The format of the last line read. */
  get format(): { name: string; duration?: string } {
    return { name: this.#name, ...(this.#unit !== undefined && { duration: this.#unit }) };
  }

  read(text: string): LoggedRequest | undefined {
    const found = line.exec(text);
    if (found === null) return undefined;
    const rest = found[5]!;
    let parts = this.#last.after.exec(rest);
    if (parts === null) {
      const layout =
        rest === '' ? combinedLayouts[0] : combinedLayouts.find(({ after }) => after.test(rest));
      if (layout !== undefined) {
        this.#last = layout;
        parts = layout.after.exec(rest);
      }
    }
    this.#name = parts === null ? unexplained : this.#last.name;
    this.#unit = parts === null ? undefined : this.#last.duration;
    return requestOf({
      time: found[1],
      method: found[2],
      target: found[3],
      status: found[4],
      durationMs: parts?.[1] === undefined ? undefined : toMs(parts[1], this.#last.unit!),
    });
  }
}
