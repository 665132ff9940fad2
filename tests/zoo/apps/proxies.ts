// Servers that forward requests, tunnels included, and those that take uploads.
import {
  chunked,
  form,
  get,
  head,
  json,
  raw,
  send,
  socket,
  upload,
  type Ask,
  type Ports,
  type ZooApp,
} from '../zoo-app.ts';

const env = ({ app, origin }: Ports): Record<string, string> => ({
  PORT: String(app),
  TARGET: `http://127.0.0.1:${origin}`,
});

export const proxies: ZooApp[] = [
  {
    name: 'http-proxy',
    package: 'http-proxy',
    group: 'proxies',
    what: 'a reverse proxy',
    files: ['http-proxy.cjs'],
    start: () => ['http-proxy.cjs'],
    env,
    asks: () => [...throughGateway(''), get('/dead'), socket('/socket', [], 1)],
  },
  {
    name: 'http-proxy-middleware',
    package: 'http-proxy-middleware',
    group: 'proxies',
    what: 'a reverse proxy, on Express',
    files: ['proxy-middleware.mjs'],
    start: () => ['proxy-middleware.mjs'],
    env,
    asks: () => [get('/'), ...throughGateway('/api'), get('/dead'), get('/missing')],
    tryArguments: ['/api/'],
  },
  {
    name: 'express-http-proxy',
    package: 'express-http-proxy',
    group: 'proxies',
    what: 'a reverse proxy that changes bodies',
    files: ['express-http-proxy.cjs'],
    start: () => ['express-http-proxy.cjs'],
    env,
    asks: () => [get('/'), ...throughGateway('/api'), get('/upper/'), get('/missing')],
    tryArguments: ['/api/'],
  },
  {
    name: 'proxy',
    package: 'proxy',
    group: 'proxies',
    what: 'a forward proxy: absolute URLs and CONNECT',
    files: ['proxy.mjs'],
    start: () => ['proxy.mjs'],
    env,
    asks: ({ origin }) => [...throughProxy(origin, ''), get('/')],
    ready: null,
  },
  {
    name: 'proxy-chain',
    package: 'proxy-chain',
    group: 'proxies',
    what: 'a forward proxy with authentication',
    files: ['proxy-chain.mjs'],
    start: () => ['proxy-chain.mjs'],
    env,
    asks: ({ origin }) => [
      ...throughProxy(origin, 'proxy-authorization: Basic em9vOnNlY3JldA==\r\n'),
      get(`http://127.0.0.1:${origin}/`),
      get(`http://127.0.0.1:${origin}/`, { 'proxy-authorization': 'Basic d3Jvbmc=' }),
      raw(
        'CONNECT without credentials',
        `CONNECT 127.0.0.1:${origin} HTTP/1.1\r\nhost: a\r\n\r\n`,
        1,
      ),
    ],
    ready: null,
  },
  {
    name: 'cors-anywhere',
    package: 'cors-anywhere',
    group: 'proxies',
    what: 'a proxy that adds CORS headers',
    files: ['cors-anywhere.cjs'],
    start: () => ['cors-anywhere.cjs'],
    env,
    asks: ({ origin }) => [
      get('/'),
      get('/iscorsneeded'),
      get(`/http://127.0.0.1:${origin}/`),
      get(`/http://127.0.0.1:${origin}/`, { origin: 'http://a.example' }),
      get(`/http://127.0.0.1:${origin}/large`, { origin: 'http://a.example' }),
      get(`/http://127.0.0.1:${origin}/moved`, { origin: 'http://a.example' }),
      get('/http://127.0.0.1:1/', { origin: 'http://a.example' }),
      get('/nothing', { origin: 'http://a.example' }),
      send('POST', `/http://127.0.0.1:${origin}/`, 'a body', { origin: 'http://a.example' }),
      send('OPTIONS', '/', undefined, {
        origin: 'http://a.example',
        'access-control-request-method': 'POST',
      }),
      get('/favicon.ico'),
    ],
  },
  {
    name: 'tus',
    package: '@tus/server',
    group: 'proxies',
    what: 'uploads that can be resumed',
    files: ['tus.mjs'],
    start: () => ['tus.mjs'],
    env,
    asks: () => [
      get('/'),
      send('OPTIONS', '/files', undefined, { 'tus-resumable': '1.0.0' }),
      send('POST', '/files', undefined, { ...tus, 'upload-length': '100', 'content-length': '0' }),
      head('/files/a-file', tus),
      send('PATCH', '/files/a-file', 'x'.repeat(40), { ...tus, ...part, 'upload-offset': '0' }),
      head('/files/a-file', tus),
      send('PATCH', '/files/a-file', 'x'.repeat(40), { ...tus, ...part, 'upload-offset': '7' }),
      chunked('PATCH', '/files/a-file', 'y'.repeat(60), { ...tus, ...part, 'upload-offset': '40' }),
      get('/files/a-file'),
      head('/files/missing', tus),
      send('POST', '/files', undefined, { 'upload-length': '100', 'content-length': '0' }),
    ],
    ready: null,
    tryArguments: ['-X', 'OPTIONS', '/files'],
  },
  {
    name: 'busboy and formidable',
    package: 'formidable',
    group: 'proxies',
    what: 'parsers of uploads',
    files: ['forms.mjs'],
    start: () => ['forms.mjs'],
    env,
    asks: () => [
      get('/'),
      upload('/busboy', 'file', 40_000),
      upload('/busboy', 'file', 60_000),
      upload('/formidable', 'file', 40_000),
      upload('/formidable', 'file', 60_000),
      upload('/formidable', 'file', 40_000, { expect: '100-continue' }),
      form('/busboy', { a: 'b', c: 'd e' }),
      form('/formidable', { a: 'b', c: 'd e' }),
      json('POST', '/formidable', { a: 'b' }),
      chunked('POST', '/busboy', 'a=b&c=d', {
        'content-type': 'application/x-www-form-urlencoded',
      }),
      send('POST', '/formidable', 'text', { 'content-type': 'text/plain' }),
    ],
  },
];

const tus = { 'tus-resumable': '1.0.0' };
const part = { 'content-type': 'application/offset+octet-stream' };

function throughGateway(prefix: string): Ask[] {
  return [
    get(`${prefix}/`),
    get(`${prefix}/path?query=1`, { 'x-own': 'a', connection: 'keep-alive, x-own' }),
    get(`${prefix}/large`),
    get(`${prefix}/moved`),
    get(`${prefix}/stream`, { accept: 'text/event-stream' }),
    head(`${prefix}/`),
    send('POST', `${prefix}/`, 'a body'),
    chunked('POST', `${prefix}/`, 'a body in chunks'),
    send('POST', `${prefix}/`, 'expected', { expect: '100-continue' }),
    send('DELETE', `${prefix}/`),
    send('OPTIONS', `${prefix}/`),
  ];
}

function throughProxy(origin: number, credentials: string): Ask[] {
  const to = `http://127.0.0.1:${origin}`;
  const line = (method: string, path: string, rest = ''): string =>
    `${method} ${to}${path} HTTP/1.1\r\nhost: 127.0.0.1:${origin}\r\n${credentials}${rest}\r\n`;
  const tunnel = `CONNECT 127.0.0.1:${origin} HTTP/1.1\r\nhost: 127.0.0.1:${origin}\r\n${credentials}\r\n`;
  return [
    raw('GET an absolute URL', line('GET', '/'), 1),
    raw('HEAD an absolute URL', line('HEAD', '/'), 1),
    raw('a large response', line('GET', '/large'), 1),
    raw('a redirect', line('GET', '/moved'), 1),
    raw('an event stream', line('GET', '/stream'), 1),
    raw('POST an absolute URL', `${line('POST', '/', 'content-length: 6\r\n')}a body`, 1),
    raw(
      'PUT in chunks',
      `${line('PUT', '/', 'transfer-encoding: chunked\r\n')}3\r\nabc\r\n0\r\n\r\n`,
      1,
    ),
    raw('CONNECT', tunnel, 2, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    raw('CONNECT to a port that is closed', tunnel.replace(`:${origin} HTTP`, ':1 HTTP'), 1),
    raw('GET of a port that is closed', line('GET', '/').replaceAll(`:${origin}`, ':1'), 1),
  ];
}
