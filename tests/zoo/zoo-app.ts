/** The ports of a trial: the app's own, and that of a small origin for whatever forwards requests. */
export interface Ports {
  app: number;
  origin: number;
}

/** Folders of a trial. Each is an absolute path. */
export interface Place {
  /** Fresh for each start: the working directory of the app. */
  app: string;
  /** Files with fixed times, the same for all starts. */
  site: string;
  /** What npm installed for the group. */
  modules: string;
}

/** A request that ends with a response. `{etag}`, `{last-modified}` and the like stand for a header of the last response that had it. */
export interface RequestAsk {
  kind: 'request';
  method: string;
  path: string;
  headers: readonly (readonly [string, string])[];
  body?: string | Buffer;
  /** Sends the body in chunks of this many bytes. */
  chunkBytes?: number;
  /** Ends after this many events of an event stream. */
  events?: number;
}

export interface WebSocketAsk {
  kind: 'websocket';
  path: string;
  headers: readonly (readonly [string, string])[];
  send: readonly (string | Buffer)[];
  /** Waits for a message of the server before it sends one. */
  takesTurns?: true;
  /** Messages to wait for. */
  receive: number;
}

/** Bytes as they are, e.g. pipelined requests or a tunnel: read until this many responses, or the end of the connection. */
export interface RawAsk {
  kind: 'raw';
  name: string;
  bytes: string;
  /** Sent after the first response, e.g. through a tunnel. */
  afterwards?: string;
  responses: number;
}

export type Ask = RequestAsk | WebSocketAsk | RawAsk;

export interface ZooApp {
  name: string;
  /** The package whose version the page shows. */
  package: string;
  /** A folder of groups/. */
  group: string;
  /** A few words for the page. */
  what: string;
  /** What follows `node`. */
  start: (ports: Ports, place: Place) => readonly string[];
  env?: (ports: Ports, place: Place) => Record<string, string>;
  /** Runs before the first start, e.g. a build; the words follow `node`. */
  build?: (ports: Ports, place: Place) => readonly string[];
  /** Files of programs/ to be put into the working directory. */
  files?: readonly string[];
  asks: (ports: Ports) => readonly Ask[];
  /** Asked until it has a status below 500. `/` by default; undefined waits for the port alone. */
  ready?: string | null;
  /** What `redline try` gets before its `--`. */
  tryArguments?: readonly string[];
  /** Differences that were looked into, each with its reason: shown on the page. */
  explained?: Readonly<Record<string, string>>;
  /** Files that the app itself leaves in its temporary folder. */
  leaves?: readonly string[];
  /** One of the eight of every CI run. */
  isQuick?: true;
}

type HeaderMap = Readonly<Record<string, string>>;

const pairs = (headers: HeaderMap): [string, string][] => Object.entries(headers);

export function get(path: string, headers: HeaderMap = {}): RequestAsk {
  return { kind: 'request', method: 'GET', path, headers: pairs(headers) };
}

export function head(path: string, headers: HeaderMap = {}): RequestAsk {
  return { ...get(path, headers), method: 'HEAD' };
}

export function send(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: HeaderMap = {},
): RequestAsk {
  return { ...get(path, headers), method, ...(body !== undefined && { body }) };
}

export function json(method: string, path: string, value: unknown, headers: HeaderMap = {}): Ask {
  return send(method, path, JSON.stringify(value), {
    'content-type': 'application/json',
    ...headers,
  });
}

export function form(path: string, fields: HeaderMap): Ask {
  return send('POST', path, new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
}

/** One field and one file of this many bytes. */
export function upload(path: string, field: string, bytes: number, headers: HeaderMap = {}): Ask {
  const line = '--zoo\r\ncontent-disposition: form-data; name=';
  return send(
    'POST',
    path,
    [
      `${line}"title"\r\n\r\nA kettle\r\n`,
      `${line}"${field}"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n`,
      `${'0123456789abcdef'.repeat(Math.ceil(bytes / 16)).slice(0, bytes)}\r\n--zoo--\r\n`,
    ].join(''),
    { 'content-type': 'multipart/form-data; boundary=zoo', ...headers },
  );
}

export function chunked(method: string, path: string, body: string, headers: HeaderMap = {}): Ask {
  return { ...send(method, path, body, headers), chunkBytes: 7 };
}

export function events(path: string, count: number, headers: HeaderMap = {}): Ask {
  return { ...get(path, { accept: 'text/event-stream', ...headers }), events: count };
}

export function socket(
  path: string,
  sent: readonly (string | Buffer)[],
  receive: number,
  headers: HeaderMap = {},
): WebSocketAsk {
  return { kind: 'websocket', path, headers: pairs(headers), send: sent, receive };
}

export function raw(name: string, bytes: string, responses: number, afterwards?: string): Ask {
  return { kind: 'raw', name, bytes, responses, ...(afterwards !== undefined && { afterwards }) };
}

/** What any file server is asked, for the files of the site. */
export function ofFiles(index = '/index.html', large = '/large.txt'): Ask[] {
  return [
    get('/'),
    get(index),
    get(large),
    head(large),
    get(large, { range: 'bytes=10-29' }),
    get(large, { range: 'bytes=-5' }),
    get(large, { range: 'bytes=0-4,10-14' }),
    get(large, { range: 'bytes=999999999-' }),
    get(large),
    get(large, { 'if-none-match': '{etag}' }),
    get(large, { 'if-modified-since': '{last-modified}' }),
    get(large, { range: 'bytes=0-9', 'if-range': '"other"' }),
    get(large, { 'accept-encoding': 'gzip' }),
    get('/sub'),
    get('/sub/'),
    get('/missing.txt'),
    get('/%zz'),
    get('/../package.json'),
    send('POST', index, 'text'),
    send('OPTIONS', index, undefined, { origin: 'http://a.example' }),
    raw(
      'two pipelined requests',
      `GET ${index} HTTP/1.1\r\nhost: zoo\r\n\r\nGET /missing.txt HTTP/1.1\r\nhost: zoo\r\nconnection: close\r\n\r\n`,
      2,
    ),
    raw('HTTP/1.0', `GET ${index} HTTP/1.0\r\n\r\n`, 1),
  ];
}
