import type { LogFormat, LoggedRequest } from '../logged-request.ts';
import { requestOf, toMs } from './fields.ts';

const reading: LoggedRequest = {
  method: 'GET',
  path: '/users/1?x=2',
  status: 200,
  time: Date.parse('2026-10-10T13:55:36Z'),
  durationMs: 401,
};

/** Logs that list their fields in a line of its own; time-taken is in seconds for CloudFront, in milliseconds for IIS. */
export const w3cFormats: readonly LogFormat[] = [
  {
    name: 'CloudFront',
    duration: 'time-taken, in seconds',
    sample:
      '#Fields: date time x-edge-location c-ip cs-method cs-uri-stem sc-status cs-uri-query time-taken\n2026-10-10\t13:55:36\tFRA2-C1\t10.0.0.1\tGET\t/users/1\t200\tx=2\t0.401',
    reading,
  },
  {
    name: 'IIS (W3C)',
    duration: 'time-taken, in milliseconds',
    sample:
      '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n2026-10-10 13:55:36 10.0.0.2 GET /users/1 x=2 443 - 10.0.0.1 curl/8 - 200 0 0 401',
    reading,
  },
];

/** Reads lines by the `#Fields:` line before them. */
export class W3cReader {
  #fields: string[] | undefined;
  #isCloudFront = false;

  get format(): LogFormat {
    return w3cFormats[this.#isCloudFront ? 0 : 1]!;
  }

  /** @returns `other` for a comment of the format */
  read(text: string): LoggedRequest | 'other' | undefined {
    if (text.startsWith('#')) {
      const names = /^#Fields: ?(.*)$/.exec(text)?.[1];
      if (names !== undefined) this.#fields = names.trim().split(/\s+/);
      return this.#fields === undefined && !/^#(?:Software|Version|Date)/.test(text)
        ? undefined
        : 'other';
    }
    if (this.#fields === undefined) return undefined;
    this.#isCloudFront = text.includes('\t');
    const values = text.split(this.#isCloudFront ? '\t' : ' ');
    if (values.length < this.#fields.length) return undefined;
    const of = (name: string): string | undefined => {
      const value = values[this.#fields!.indexOf(name)];
      return value === '-' ? undefined : value;
    };
    const stem = of('cs-uri-stem') ?? of('cs-uri');
    const query = of('cs-uri-query');
    return requestOf({
      method: of('cs-method'),
      target: query === undefined || stem === undefined ? stem : `${stem}?${query}`,
      status: of('sc-status'),
      time: `${of('date')}T${of('time')}Z`,
      durationMs: toMs(of('time-taken'), this.#isCloudFront ? 's' : 'ms'),
    });
  }
}
