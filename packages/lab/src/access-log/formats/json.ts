import type { LogFormat, LoggedRequest } from '../logged-request.ts';
import { type DurationUnit, type RawFields, requestOf, toMs } from './fields.ts';

export type Fields = Record<string, unknown>;

/** A JSON format: for each fact, the fields that may hold it, in order of preference; a dot descends into an object. */
export interface JsonFormat extends LogFormat {
  method?: readonly string[];
  target?: readonly string[];
  request?: readonly string[];
  status: readonly string[];
  time: readonly string[];
  /** The unit applies to bare numbers; a text may have its own. */
  took: readonly (readonly [field: string, unit: DurationUnit])[];
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
const json = JSON.stringify;

/** The first format that finds a method, a target and a status counts; the one with common names comes last. */
export const jsonFormats: readonly JsonFormat[] = [
  {
    name: 'Traefik, JSON',
    method: ['RequestMethod'],
    target: ['RequestPath'],
    status: ['DownstreamStatus', 'OriginStatus'],
    time: ['StartUTC', 'time'],
    took: [['Duration', 'ns']],
    duration: 'Duration, in nanoseconds',
    sample: json({
      DownstreamStatus: 200,
      Duration: 401_000_000,
      RequestMethod: 'GET',
      RequestPath: '/users/1?x=2',
      StartUTC: at,
    }),
    reading,
  },
  {
    name: 'Google Cloud (Cloud Run, load balancers)',
    method: ['httpRequest.requestMethod'],
    target: ['httpRequest.requestUrl'],
    status: ['httpRequest.status'],
    time: ['timestamp', 'receiveTimestamp'],
    took: [['httpRequest.latency', 's']],
    duration: 'httpRequest.latency, with its unit',
    sample: json({
      httpRequest: {
        requestMethod: 'GET',
        requestUrl: 'https://api-x.a.run.app/users/1?x=2',
        status: 200,
        latency: '0.401s',
      },
      timestamp: at,
    }),
    reading,
  },
  {
    name: 'Elastic Common Schema',
    method: ['http.request.method'],
    target: ['url.original', 'url.path'],
    status: ['http.response.status_code'],
    time: ['@timestamp'],
    took: [['event.duration', 'ns']],
    duration: 'event.duration, in nanoseconds',
    sample: json({
      '@timestamp': at,
      'http.request.method': 'GET',
      url: { original: '/users/1?x=2' },
      http: { response: { status_code: 200 } },
      event: { duration: 401_000_000 },
    }),
    reading,
  },
  {
    name: 'Caddy',
    method: ['request.method'],
    target: ['request.uri'],
    status: ['status'],
    time: ['ts'],
    took: [['duration', 's']],
    duration: 'duration, in seconds',
    sample: json({
      level: 'info',
      ts: time / 1_000,
      request: { method: 'GET', uri: '/users/1?x=2' },
      duration: 0.401,
      status: 200,
    }),
    reading,
  },
  {
    name: 'express-winston',
    method: ['meta.req.method'],
    target: ['meta.req.originalUrl', 'meta.req.url'],
    status: ['meta.res.statusCode'],
    time: ['timestamp', 'time'],
    took: [['meta.responseTime', 'ms']],
    duration: 'meta.responseTime, in milliseconds',
    sample: json({
      message: 'HTTP GET /users/1',
      meta: {
        req: { method: 'GET', url: '/users/1?x=2' },
        res: { statusCode: 200 },
        responseTime: 401,
      },
      timestamp: at,
    }),
    reading,
  },
  {
    name: 'Envoy or Istio, JSON',
    method: ['method', ':METHOD'],
    target: ['path', 'x-envoy-original-path'],
    status: ['response_code'],
    time: ['start_time'],
    took: [['duration', 'ms']],
    duration: 'duration, in milliseconds',
    sample: json({
      start_time: at,
      method: 'GET',
      path: '/users/1?x=2',
      response_code: 200,
      duration: 401,
    }),
    reading,
  },
  {
    name: 'AWS API Gateway',
    method: ['httpMethod'],
    target: ['path', 'resourcePath'],
    status: ['status'],
    time: ['requestTimeEpoch', 'requestTime'],
    took: [['responseLatency', 'ms']],
    duration: 'responseLatency, in milliseconds',
    sample: json({
      requestTime: '10/Oct/2026:13:55:36 +0000',
      httpMethod: 'GET',
      path: '/users/1?x=2',
      status: '200',
      responseLatency: '401',
    }),
    reading,
  },
  {
    name: 'nginx, JSON with $request',
    request: ['request'],
    status: ['status'],
    time: ['time_iso8601', 'time_local', '@timestamp', 'timestamp', 'time', 'msec'],
    took: [
      ['request_time', 's'],
      ['responsetime', 's'],
      ['requesttime', 's'],
    ],
    duration: 'request_time or responsetime, in seconds',
    sample: json({
      '@timestamp': at,
      request: 'GET /users/1?x=2 HTTP/1.1',
      status: 200,
      responsetime: 0.401,
    }),
    reading,
  },
  {
    name: 'nginx, JSON',
    method: ['request_method'],
    target: ['request_uri', 'uri'],
    status: ['status'],
    time: ['time_iso8601', 'time_local', '@timestamp', 'timestamp', 'time', 'msec'],
    took: [['request_time', 's']],
    duration: 'request_time, in seconds',
    sample: json({
      time_iso8601: at,
      request_method: 'GET',
      request_uri: '/users/1?x=2',
      status: '200',
      request_time: '0.401',
    }),
    reading,
  },
  {
    name: 'JSON with common names',
    method: ['method', 'request_method', 'verb'],
    target: ['originalUrl', 'url', 'request_uri', 'uri', 'path'],
    status: ['status', 'statusCode', 'status_code', 'status-code'],
    time: ['timestamp', 'time', '@timestamp', 'ts', 'msec'],
    took: [
      ['request_time', 's'],
      ['responseTime', 'ms'],
      ['response_time', 'ms'],
      ['response-time', 'ms'],
      ['durationMs', 'ms'],
      ['duration_ms', 'ms'],
      ['latencyMs', 'ms'],
      ['latency_ms', 'ms'],
      ['duration', 'ms'],
      ['elapsed', 'ms'],
    ],
    duration:
      'responseTime, duration or a field of such a name, in milliseconds unless it has its unit',
    sample: json({
      level: 'info',
      method: 'GET',
      url: '/users/1?x=2',
      status: 200,
      duration: '401ms',
      timestamp: at,
    }),
    reading,
  },
];

/** Formats that log `req` and `res` as objects: the names of the duration in pino and bunyan. */
export const reqResFormat: LogFormat & { took: JsonFormat['took'] } = {
  name: 'pino or bunyan',
  took: [
    ['responseTime', 'ms'],
    ['latency', 'ms'],
    ['duration', 'ms'],
  ],
  duration: 'responseTime (of bunyan: latency or duration), in milliseconds',
  sample: json({
    level: 30,
    time,
    req: { method: 'GET', url: '/users/1?x=2' },
    res: { statusCode: 200 },
    responseTime: 401,
  }),
  reading,
};

/** Returns the first format that describes the entry, with its request. */
export function readJson(
  entry: Fields,
): { format: JsonFormat; request: LoggedRequest } | undefined {
  for (const format of jsonFormats) {
    const request = requestOf(fieldsBy(format, entry));
    if (request !== undefined) return { format, request };
  }
  return undefined;
}

export function tookIn(entry: Fields, took: JsonFormat['took']): number | undefined {
  for (const [field, unit] of took) {
    const durationMs = toMs(valueOf(entry, field), unit);
    if (durationMs !== undefined) return durationMs;
  }
  return undefined;
}

function fieldsBy(format: JsonFormat, entry: Fields): RawFields {
  const first = (names: readonly string[] = []): unknown =>
    names.map((name) => valueOf(entry, name)).find((value) => value !== undefined);
  return {
    method: first(format.method),
    target: first(format.target),
    request: first(format.request),
    status: first(format.status),
    time: first(format.time),
    durationMs: tookIn(entry, format.took),
  };
}

/** Resolves a dotted name: some writers nest `http.request.method`, others use it as one key, or mix both. */
function valueOf(entry: Fields, name: string): unknown {
  const whole = entry[name];
  if (whole !== undefined) return whole;
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const inner = entry[name.slice(0, dot)];
    if (typeof inner === 'object' && inner !== null)
      return valueOf(inner as Fields, name.slice(dot + 1));
  }
  return undefined;
}
