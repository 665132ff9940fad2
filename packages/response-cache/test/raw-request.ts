import { connect } from 'node:net';

/** What a server sends for `head`, to the byte, without the value of `Date`. The request has to end the connection. */
export function rawRequest(port: number, head: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => (received += piece));
    socket.on('error', reject);
    // A connection that stays open would hold the whole test file.
    socket.setTimeout(30_000, () =>
      socket.destroy(new Error(`${head[0]} is still open, with ${JSON.stringify(received)}`)),
    );
    socket.on('close', () => resolve(received.replace(/^(date: ).*\r\n/im, '$1\r\n')));
    socket.write(`${[...head, 'Host: test', 'Connection: close'].join('\r\n')}\r\n\r\n`);
  });
}

/** The requests for which every place has to send the same. */
export function requestsFor(path: string, etag: string | undefined): Record<string, string[]> {
  return {
    GET: [`GET ${path} HTTP/1.1`],
    HEAD: [`HEAD ${path} HTTP/1.1`],
    'GET, HTTP/1.0': [`GET ${path} HTTP/1.0`],
    'GET, as a browser': [
      `GET ${path} HTTP/1.1`,
      'Accept: text/html,*/*;q=0.8',
      'User-Agent: Mozilla/5.0',
      'Accept-Encoding: gzip, br',
    ],
    ...(etag === undefined
      ? {}
      : {
          'GET, If-None-Match': [`GET ${path} HTTP/1.1`, `If-None-Match: ${etag}`],
          'HEAD, If-None-Match': [`HEAD ${path} HTTP/1.1`, `If-None-Match: ${etag}`],
          'GET, another If-None-Match': [`GET ${path} HTTP/1.1`, 'If-None-Match: "other"'],
          'GET, any If-None-Match': [`GET ${path} HTTP/1.1`, 'If-None-Match: *'],
        }),
  };
}
