import { ask, serve, textOf, type Behaviours, type HttpModule, type Listener } from './engine.ts';

/** Says what it understood; whoever understands something else answers something else. */
export const tell: Listener = async (request, response) => {
  try {
    const body = await textOf(request);
    response.end(
      `<${JSON.stringify([request.method, request.url, request.rawHeaders, body, request.rawTrailers])}>`,
    );
  } catch {
    // Cut off: the status says so.
  }
};

const get = (...lines: string[]) =>
  ['GET / HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n');
const startLine = (line: string) => `${line}\r\nHost: a\r\nConnection: close\r\n\r\n`;

/** Heads, good and bad, as they are on the wire. */
const heads: Record<string, string> = {
  'a word': 'x\r\n\r\n',
  'a bare CRLF, then the end': '\r\n\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'an HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a response': 'HTTP/1.1 200 OK\r\n\r\n',
  'a method that is none': startLine('FETCH / HTTP/1.1'),
  'a method in lower case': startLine('get / HTTP/1.1'),
  'a method cut short': startLine('GE / HTTP/1.1'),
  'a method with more': startLine('GETX / HTTP/1.1'),
  'two spaces after the method': startLine('GET  / HTTP/1.1'),
  'two spaces after the target': startLine('GET /  HTTP/1.1'),
  'a space before the method': startLine(' GET / HTTP/1.1'),
  'a tab after the method': startLine('GET\t/ HTTP/1.1'),
  'a space in the target': startLine('GET /a b HTTP/1.1'),
  'a tab behind the space behind the target': startLine('GET / \tHTTP/1.1'),
  'a form feed there': startLine('GET / \fHTTP/1.1'),
  'a tab behind two spaces there': startLine('GET /  \tHTTP/1.1'),
  'no target': startLine('GET HTTP/1.1'),
  'no version': startLine('GET /'),
  'HTTP/0.9': 'GET /\r\n',
  'a CR and more behind the target': startLine('GET /\rx'),
  'a CR and more behind an absolute target': startLine('GET http://b\rx'),
  'a CR and more behind a target of CONNECT': startLine('CONNECT b\rx'),
  'version 0.9': startLine('GET / HTTP/0.9'),
  'version 1.2': startLine('GET / HTTP/1.2'),
  'version 2.0': startLine('GET / HTTP/2.0'),
  'version 3.0': startLine('GET / HTTP/3.0'),
  'version 1': startLine('GET / HTTP/1'),
  'version 1.10': startLine('GET / HTTP/1.10'),
  'version 11.1': startLine('GET / HTTP/11.1'),
  'version in lower case': startLine('GET / http/1.1'),
  'another protocol': startLine('GET / ICE/1.0'),
  'ICE and SOURCE': startLine('SOURCE / ICE/1.0'),
  RTSP: startLine('DESCRIBE / RTSP/1.0'),
  'a target that is absolute': startLine('GET http://b:80/c?d HTTP/1.1'),
  'a target that is absolute, without a path': startLine('GET http://b HTTP/1.1'),
  'a target that is absolute, with a query': startLine('GET http://b?x=1 HTTP/1.1'),
  'a target of another scheme': startLine('GET ftp://b/c HTTP/1.1'),
  'a target with user and password': startLine('GET http://u:p@b/ HTTP/1.1'),
  'a target with a bad host': startLine('GET http://b@@c/ HTTP/1.1'),
  'a target without a slash': startLine('GET a HTTP/1.1'),
  'a target that is *': startLine('OPTIONS * HTTP/1.1'),
  'a target that is * of GET': startLine('GET * HTTP/1.1'),
  'a target with a fragment': startLine('GET /a#b HTTP/1.1'),
  'a target that starts with ?': startLine('GET ?a=b HTTP/1.1'),
  'a target with two slashes': startLine('GET //a//b HTTP/1.1'),
  'a target above ASCII': startLine('GET /\xc3\xa4 HTTP/1.1'),
  'a target with DEL': startLine('GET /\x7f HTTP/1.1'),
  'a target with a tab': startLine('GET /a\tb HTTP/1.1'),
  'a target with a form feed': startLine('GET /a\fb HTTP/1.1'),
  'a target with NUL': startLine('GET /a\0b HTTP/1.1'),
  'a target with a bare CR': startLine('GET /a\rb HTTP/1.1'),
  'a target with odd characters': startLine('GET /"<>\\^`{|}%zz HTTP/1.1'),
  'a start line that ends with LF': 'GET / HTTP/1.1\nHost: a\r\nConnection: close\r\n\r\n',
  'a start line that ends with CR': 'GET / HTTP/1.1\rHost: a\r\nConnection: close\r\n\r\n',
  'a header that ends with LF': 'GET / HTTP/1.1\r\nHost: a\nConnection: close\r\n\r\n',
  'a header that ends with CR': 'GET / HTTP/1.1\r\nHost: a\rConnection: close\r\n\r\n',
  'a head that ends with LF': 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\n',
  'LF all over': 'GET / HTTP/1.1\nHost: a\nConnection: close\n\n',
  'CR CR LF': 'GET / HTTP/1.1\r\nHost: a\r\r\nConnection: close\r\n\r\n',
  'CR and something after a header': 'GET / HTTP/1.1\r\nHost: a\rX\r\n\r\n',
  'no Host': 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
  'an empty Host': 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n',
  'two of Host': 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
  'the same Host twice': 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\nConnection: close\r\n\r\n',
  'a Host that is none': 'GET / HTTP/1.1\r\nHost: a/b c\r\nConnection: close\r\n\r\n',
  'a space before the colon': get('X-A : b'),
  'a tab before the colon': get('X-A\t: b'),
  'no colon': get('X-A'),
  'no name': get(': b'),
  'a name of a space': get(' : b'),
  'a space before the first name': 'GET / HTTP/1.1\r\n Host: a\r\nConnection: close\r\n\r\n',
  'a folded value': get('X-A: b', ' c'),
  'a folded value, with a tab': get('X-A: b', '\tc'),
  'a folded value that is empty': get('X-A:', ' c'),
  'a folded Content-Length': get('Content-Length: 1', ' 0'),
  'a folded Transfer-Encoding': get('Transfer-Encoding:', ' chunked'),
  'a line of spaces': get('X-A: b', '  '),
  'a NUL in a name': get('X\0A: b'),
  'a NUL in a value': get('X-A: a\0b'),
  'a NUL at the start': `\0${get()}`,
  'a control character in a value': get('X-A: a\x01b'),
  'DEL in a value': get('X-A: a\x7fb'),
  'a tab in a value': get('X-A: a\tb'),
  'a name above ASCII': get('X-\xe4: b'),
  'a name with a slash': get('X/A: b'),
  'a name with parentheses': get('X(A): b'),
  'a name with quotes': get('"X": b'),
  'a name with @': get('X@A: b'),
  'Connection with odd tokens': get('Connection: ,,, close ,'),
  'an upgrade without Connection': get('Upgrade: websocket'),
  'a very long method': startLine(`${'A'.repeat(100)} / HTTP/1.1`),
};

const methods = [
  'DELETE',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'COPY',
  'LOCK',
  'MKCOL',
  'MOVE',
  'PROPFIND',
  'PROPPATCH',
  'SEARCH',
  'UNLOCK',
  'BIND',
  'REBIND',
  'UNBIND',
  'ACL',
  'REPORT',
  'MKACTIVITY',
  'CHECKOUT',
  'MERGE',
  'M-SEARCH',
  'NOTIFY',
  'SUBSCRIBE',
  'UNSUBSCRIBE',
  'PATCH',
  'PURGE',
  'MKCALENDAR',
  'LINK',
  'UNLINK',
  'SOURCE',
  'QUERY',
  'PRI',
  'DESCRIBE',
  'FLUSH',
];

export const refusals: Behaviours = {
  ...Object.fromEntries(
    Object.entries(heads).map(([name, bytes]) => [
      name,
      (http: HttpModule) => ask(http, tell, [bytes, 'FIN']),
    ]),
  ),
  'every method': async (http) => {
    await using serving = await serve(http, {}, tell);
    const answers: unknown[] = [];
    for (const method of methods) {
      answers.push([method, await serving.talk(startLine(`${method} / HTTP/1.1`), 'FIN')]);
    }
    return answers;
  },
  'every byte in a name': (http) => everyByte(http, (byte) => get(`X${byte}A: b`)),
  'every byte in a value': (http) => everyByte(http, (byte) => get(`X-A: a${byte}b`)),
  'every byte at the end of a value': (http) => everyByte(http, (byte) => get(`X-A: a${byte}`)),
  'every byte at the start of a value': (http) => everyByte(http, (byte) => get(`X-A:${byte}a`)),
  'every byte in a target': (http) =>
    everyByte(http, (byte) => startLine(`GET /a${byte}b HTTP/1.1`)),
  'every byte at the start of a target': (http) =>
    everyByte(http, (byte) => startLine(`GET ${byte} HTTP/1.1`)),
  'every byte before the method': (http) => everyByte(http, (byte) => `${byte}${get()}`),
  'every byte after the version': (http) =>
    everyByte(http, (byte) => `GET / HTTP/1.1${byte}\r\nHost: a\r\nConnection: close\r\n\r\n`),
  'a bad request after a good one': async (http) => {
    await using serving = await serve(http, {}, tell);
    const answers: unknown[] = [];
    for (const name of ['a word', 'no colon', 'a NUL in a value', 'no Host', 'version 1.2']) {
      answers.push(
        await serving.talk('GET /good HTTP/1.1\r\nHost: a\r\n\r\n', />/, heads[name]!, 'FIN'),
        await serving.talk(`GET /good HTTP/1.1\r\nHost: a\r\n\r\n${heads[name]}`, 'FIN'),
      );
    }
    return answers;
  },
  'what comes after a bad request is not read': async (http) => {
    const urls: string[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      urls.push(request.url!);
      response.end();
    });
    await serving.talk('BAD\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n');
    await serving.talk(
      'GET / HTTP/1.1\r\nHost : a\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    return urls;
  },
};

/** Status and end for each of the 256 bytes. */
async function everyByte(http: HttpModule, head: (byte: string) => string): Promise<unknown> {
  await using serving = await serve(http, {}, tell);
  const answers = Array.from({ length: 256 }, async (_, code) => {
    const { received, end } = await serving.talk(head(String.fromCharCode(code)), 'FIN');
    return [code, received.slice(0, 12), end, /<.*>/s.exec(received)?.[0]];
  });
  return await Promise.all(answers);
}
