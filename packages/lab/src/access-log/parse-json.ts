import type { LoggedRequest } from './logged-request.ts';
import { durationIn, parseWords, pathOf, timeOf } from './parse-text.ts';

type Fields = Record<string, unknown>;

/** A request that is logged as JSON other than pino's: Caddy's, winston's, Nest's, or with nginx's names of its variables. */
export function parseOtherJson(entry: Fields): LoggedRequest | undefined {
  return parseCaddy(entry) ?? parseMeta(entry) ?? parseFlat(entry) ?? parseMessage(entry);
}

/** `{"ts":1795401888.5,"request":{"method":"GET","uri":"/x"},"duration":0.0012,"status":200}`, in seconds. */
function parseCaddy(entry: Fields): LoggedRequest | undefined {
  const request = entry['request'] as Fields | undefined;
  if (typeof request !== 'object' || request === null) return undefined;
  const { duration } = entry;
  return build({
    method: request['method'],
    target: request['uri'],
    status: entry['status'],
    time: entry['ts'],
    durationMs: typeof duration === 'number' ? duration * 1_000 : textualMs(duration),
  });
}

/** express-winston: `{"message":"HTTP GET /x","meta":{"req":{…},"res":{"statusCode":200},"responseTime":3}}`. */
function parseMeta(entry: Fields): LoggedRequest | undefined {
  const meta = entry['meta'] as { req?: Fields; res?: Fields; responseTime?: unknown } | undefined;
  if (typeof meta?.req !== 'object') return undefined;
  return build({
    method: meta.req['method'],
    target: meta.req['originalUrl'] ?? meta.req['url'],
    status: meta.res?.['statusCode'],
    time: entry['timestamp'] ?? entry['time'],
    durationMs: meta.responseTime,
  });
}

/** Fields beside each other, by the names most loggers and nginx have for them. */
function parseFlat(entry: Fields): LoggedRequest | undefined {
  const first = (...names: string[]): unknown => {
    const name = names.find((each) => entry[each] !== undefined);
    return name === undefined ? undefined : entry[name];
  };
  const seconds = entry['request_time'];
  const duration = first(
    'responseTime',
    'response_time',
    'durationMs',
    'duration_ms',
    'duration',
    'elapsed',
  );
  return build({
    method: first('method', 'request_method'),
    target: first('originalUrl', 'url', 'request_uri', 'uri', 'path'),
    status: first('status', 'statusCode', 'status_code'),
    time: first('timestamp', 'time', 'time_iso8601', 'ts', 'msec'),
    durationMs: seconds === undefined ? (textualMs(duration) ?? duration) : Number(seconds) * 1_000,
  });
}

/** What morgan, say, wrote into the message. */
function parseMessage(entry: Fields): LoggedRequest | undefined {
  const text = entry['message'] ?? entry['msg'];
  const parsed = typeof text === 'string' ? parseWords(text.trim()) : undefined;
  if (parsed === undefined) return undefined;
  const time = timeOf(entry['timestamp'] ?? entry['time']);
  return time === undefined ? parsed : { ...parsed, time };
}

/** `"12ms"` has its unit with it; a bare number has none. */
function textualMs(value: unknown): number | undefined {
  return typeof value === 'string' ? durationIn(value) : undefined;
}

function build(found: {
  method: unknown;
  target: unknown;
  status: unknown;
  time: unknown;
  durationMs: unknown;
}): LoggedRequest | undefined {
  const { method, target } = found;
  const status = Number(found.status);
  if (typeof method !== 'string' || typeof target !== 'string' || !(status >= 100))
    return undefined;
  const time = timeOf(found.time);
  const durationMs = found.durationMs === undefined ? Number.NaN : Number(found.durationMs);
  return {
    method: method.toUpperCase(),
    path: pathOf(target),
    status,
    ...(time === undefined ? {} : { time }),
    ...(Number.isNaN(durationMs) ? {} : { durationMs }),
  };
}
