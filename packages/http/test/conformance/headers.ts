import { ask, attempt, type Behaviours, type HttpModule, type Options } from './engine.ts';

const names = [
  'Age',
  'Authorization',
  'Content-Type',
  'Etag',
  'Expires',
  'From',
  'If-Modified-Since',
  'If-Unmodified-Since',
  'Last-Modified',
  'Location',
  'Max-Forwards',
  'Proxy-Authorization',
  'Referer',
  'Retry-After',
  'Server',
  'User-Agent',
  'Cookie',
  'Set-Cookie',
  'Accept',
  'Accept-Encoding',
  'Cache-Control',
  'Date',
  'Origin',
  'X-Forwarded-For',
  'X-Anything',
  'Vary',
  'Via',
  'Warning',
  'If-None-Match',
  'Access-Control-Request-Headers',
  'Sec-WebSocket-Protocol',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
];
/** What a request says of its headers. */
function seen(http: HttpModule, lines: readonly string[], options: Options = {}): Promise<unknown> {
  return ask(
    http,
    (request, response) => {
      const { headers, headersDistinct, rawHeaders } = request;
      response.end(
        JSON.stringify([
          Object.entries(headers),
          Object.entries(headersDistinct),
          rawHeaders,
          Object.getPrototypeOf(headersDistinct) === null,
          Object.getPrototypeOf(headers) === Object.prototype,
        ]),
      );
    },
    [['GET /?q HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n')],
    options,
  );
}

/** What goes out for what a listener does with its response. */
type Doing = (response: import('node:http').ServerResponse) => unknown;
async function sent(http: HttpModule, doing: Doing, options: Options = {}): Promise<unknown> {
  const outcomes: unknown[] = [];
  const conversation = await ask(
    http,
    (_, response) => {
      const note = doing(response);
      if (note !== undefined) outcomes.push(note);
      if (!response.writableEnded) response.end('x');
    },
    ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    options,
  );
  return { conversation, outcomes };
}

const badNames: unknown[] = [
  '',
  ' ',
  'a b',
  'a:',
  'a\r\nb',
  'ä',
  'a\0',
  '(',
  undefined,
  null,
  1,
  {},
];
const badValues: unknown[] = [
  undefined,
  null,
  'a\r\nb: c',
  'a\nb',
  'a\0',
  '\u{1F600}',
  'ä',
  '\x7f',
  '\t',
  ' a ',
  '',
  1,
  true,
  ['a', 'b'],
  ['a', 'b\r\nc'],
  [],
  {},
  Symbol.iterator.description,
];

export const headers: Behaviours = {
  'headers of a request': (http) =>
    seen(http, [
      'X-One: 1',
      'x-two:2',
      'X-THREE:   3   ',
      'X-Four:\t4\t',
      'X-Empty:',
      'X-Space:  ',
    ]),
  'bytes above ASCII are latin1': (http) => seen(http, ['X-A: \xe4\xff\x80', 'X-B: caf\xc3\xa9']),
  'quotes, commas, colons': (http) =>
    seen(http, ['X-A: "a, b": c; d=e', 'Cookie: a=b; c=d', 'X-B: a:b:c', "X-!#$%&'*+-.^_`|~9: ok"]),
  ...Object.fromEntries(
    names.map((name) => [
      `two of ${name}`,
      (http: HttpModule) =>
        seen(http, [`${name}: one`, `${name.toLowerCase()}: two`, `${name}: three`]),
    ]),
  ),
  'all of them twice, with joinDuplicateHeaders': (http) =>
    seen(
      http,
      names.flatMap((name) => [`${name}: one`, `${name}: two`]),
      { joinDuplicateHeaders: true },
    ),
  'two of Host': (http) => seen(http, ['Host: b']),
  'an empty first, then another': (http) =>
    seen(http, ['X-A: ', 'X-A: b', 'Accept: ', 'Accept: c']),
  'the same name, adding up': async (http) => [
    await seen(http, ['X-A: 1', 'X-B: 2', 'X-A: 3', 'X-B: 4', 'X-A: 5']),
  ],
  'headers are an own, writable object': (http) =>
    ask(
      http,
      (request, response) => {
        request.headers['x-added'] = 'added';
        delete request.headers.host;
        const copy = { ...request.headers };
        request.headers = { replaced: 'yes' };
        response.end(JSON.stringify([copy, request.headers, request.headers === request.headers]));
      },
      ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ),
  'a changed header object does not reach the next request': (http) => {
    const request = 'GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n';
    return ask(
      http,
      (incoming, response) => {
        const before = JSON.stringify(incoming.headers);
        incoming.headers['x-a'] = 'changed';
        incoming.headers['x-b'] = 'new';
        incoming.rawHeaders.push('Y', 'z');
        response.end(before);
      },
      [request, /\{.*\}/, request, /\{.*\}/, request.replace('Host', 'Connection: close\r\nHost')],
    );
  },
  'the same head again and again, then another': (http) => {
    const request = (value: string) => `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${value}\r\n\r\n`;
    return ask(
      http,
      (incoming, response) => response.end(`<${JSON.stringify(incoming.headers)}>`),
      [
        request('1'),
        />/,
        request('1'),
        />/,
        request('2'),
        />/,
        request('1'),
        />/,
        request('1') + request('2') + request('2'),
        />/,
        />/,
        />/,
        request('1').replace('Host', 'Connection: close\r\nHost'),
      ],
    );
  },
  'maxHeadersCount of a server': async (http) => {
    const lines = Array.from({ length: 50 }, (_, i) => `X-${i}: ${i}`);
    const few = { createServer: limited(http, 10) } as HttpModule;
    const all = { createServer: limited(http, 0) } as HttpModule;
    return [await seen(few, lines), await seen(all, lines)];
  },
  'two thousand headers and more': async (http) =>
    seen(
      { createServer: limited(http, null) } as HttpModule,
      Array.from({ length: 1_900 }, (_, i) => `a${i}:`),
    ),
  'setHeader, getHeader, hasHeader, removeHeader': (http) =>
    sent(http, (response) => {
      response.setHeader('X-One', 1);
      response.setHeader('x-Two', ['a', 'b']);
      response.setHeader('X-Gone', 'x');
      response.removeHeader('x-gone');
      response.appendHeader('X-Two', 'c');
      response.appendHeader('X-New', ['d', 'e']);
      return [
        response.getHeader('x-one'),
        response.getHeader('X-TWO'),
        response.getHeader('none'),
        response.hasHeader('X-NEW'),
        response.hasHeader('X-Gone'),
        response.getHeaderNames(),
        (response as unknown as { getRawHeaderNames: () => string[] }).getRawHeaderNames(),
        Object.entries(response.getHeaders()),
        Object.getPrototypeOf(response.getHeaders()) === null,
      ];
    }),
  'setHeader again replaces, in its place': (http) =>
    sent(http, (response) => {
      response.setHeader('A', '1').setHeader('B', '2').setHeader('a', '3');
      return response.getHeaderNames();
    }),
  'setHeaders with Headers and Map': (http) =>
    sent(http, (response) => {
      const fetched = new Headers({ 'X-A': '1' });
      fetched.append('Set-Cookie', 'a=b');
      fetched.append('Set-Cookie', 'c=d');
      response.setHeaders(fetched);
      response.setHeaders(new Map([['X-B', '2']]));
      return [attempt(() => response.setHeaders({} as never)), response.getHeaders()];
    }),
  'set-cookie goes out line by line': (http) =>
    sent(http, (response) => {
      response.setHeader('Set-Cookie', ['a=b', 'c=d']);
      response.appendHeader('set-cookie', 'e=f');
    }),
  'cookies are joined with a semicolon': (http) =>
    sent(http, (response) => {
      response.setHeader('Cookie', ['a=b', 'c=d']);
    }),
  uniqueHeaders: (http) =>
    sent(
      http,
      (response) => {
        response.setHeader('X-Joined', ['a', 'b']);
        response.setHeader('X-Not', ['a', 'b']);
      },
      { uniqueHeaders: ['x-joined'] },
    ),
  'names that are refused': (http) =>
    sent(http, (response) =>
      badNames.flatMap((name) => [
        attempt(() => response.setHeader(name as string, 'x') && 'set'),
        attempt(() => response.appendHeader(name as string, 'x') && 'appended'),
        attempt(() => response.getHeader(name as string)),
        attempt(() => response.hasHeader(name as string)),
        attempt(() => response.removeHeader(name as string)),
      ]),
    ),
  'values that are refused': (http) =>
    sent(http, (response) =>
      badValues.map((value, i) => [
        attempt(() => response.setHeader(`X-${i}`, value as string) && 'set'),
        attempt(() => response.appendHeader(`Y-${i}`, value as string) && 'appended'),
      ]),
    ),
  'values that writeHead refuses': async (http) => {
    const outcomes: unknown[] = [];
    for (const value of badValues) {
      outcomes.push(
        await sent(http, (response) =>
          attempt(() => response.writeHead(200, { 'X-A': value as string }) && 'written'),
        ),
      );
    }
    return outcomes;
  },
  'names that writeHead refuses': async (http) => {
    const outcomes: unknown[] = [];
    for (const name of badNames) {
      outcomes.push(
        await sent(http, (response) =>
          attempt(() => response.writeHead(200, { [String(name)]: 'x' }) && 'written'),
        ),
      );
    }
    return outcomes;
  },
  'latin1 in a value goes out as one byte': (http) =>
    sent(http, (response) => {
      response.setHeader('X-A', 'caf\xe9');
      response.end('é');
    }),
  'a Content-Disposition cannot end its line': async (http) => {
    // In UTF-8 the last two of these are a letter each, of which latin1 leaves CR and LF.
    const value = 'attachment; filename="a\xc4\x8d\xc4\x8aX-Evil: 1"';
    const answers: unknown[] = [];
    for (const body of ['ok', Buffer.from('ok')]) {
      answers.push(
        await sent(http, (response) => {
          response.setHeader('Content-Length', 2);
          response.setHeader('Content-Disposition', value);
          response.end(body);
        }),
      );
    }
    return answers;
  },
  'Date may be left out or be another': async (http) => [
    await sent(http, (response) => {
      response.sendDate = false;
    }),
    await sent(http, (response) => {
      response.setHeader('Date', 'yesterday');
    }),
  ],
  'Content-Length, Transfer-Encoding and Connection may be taken away': async (http) => [
    await sent(http, (response) => {
      response.removeHeader('Content-Length');
    }),
    await sent(http, (response) => {
      response.removeHeader('Transfer-Encoding');
      response.write('a');
    }),
    await sent(http, (response) => {
      response.removeHeader('Connection');
    }),
    await sent(http, (response) => {
      response.removeHeader('Date');
    }),
    await sent(http, (response) => {
      response.removeHeader('Content-Length');
      response.removeHeader('Transfer-Encoding');
      response.removeHeader('Connection');
    }),
  ],
  'headers after the head was sent': (http) =>
    sent(http, (response) => {
      response.flushHeaders();
      return [
        response.headersSent,
        attempt(() => response.setHeader('X', 'y')),
        attempt(() => response.appendHeader('X', 'y')),
        attempt(() => response.removeHeader('X')),
        attempt(() => response.setHeaders(new Map([['a', 'b']]))),
        attempt(() => response.writeHead(200)),
        attempt(() => response.flushHeaders()),
        response.getHeader('x'),
      ];
    }),
  'the head as it was sent can still be read': (http) =>
    sent(http, (response) => {
      response.setHeader('X-Set', 'a');
      response.writeHead(201, { 'X-Given': 'b' });
      return [response.getHeaders(), response.statusCode, response.statusMessage];
    }),
  'header order': (http) =>
    sent(http, (response) => {
      response.setHeader('Z', '1');
      response.setHeader('Content-Length', 1);
      response.setHeader('A', '2');
      response.writeHead(200, { M: '3', a: '4', Connection: 'close' });
    }),
};

function limited(http: HttpModule, most: number | null) {
  return (...args: Parameters<HttpModule['createServer']>) => {
    const server = http.createServer(...args);
    server.maxHeadersCount = most;
    return server;
  };
}
