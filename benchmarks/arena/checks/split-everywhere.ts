import assert from 'node:assert/strict';
import { bodyOf, sendParts } from '../ask.ts';
import { anyNumber } from '../check.ts';

/** Long enough for the server to read the first part, and to find no more data, before the second is sent. */
const pauseMs = 200;
const atOnce = 256;

interface Shape {
  readonly request: string;
  readonly sum: number;
}

function shapes(): Shape[] {
  const [a, b, body] = [anyNumber(100, 999), anyNumber(100, 999), anyNumber(100, 999)];
  const close = 'Connection: close\r\n';
  const line = (method: string, query = 'a=13&b=42'): string =>
    `${method} /baseline11?${query} HTTP/1.1\r\n`;
  const get = `${line('GET')}Host: localhost\r\n`;
  const post = `Host: localhost\r\nContent-Type: text/plain\r\n${close}`;
  const chunked = `${line('POST')}${post}Transfer-Encoding: chunked\r\n\r\n`;
  return [
    { request: `${get}${close}\r\n`, sum: 55 },
    {
      request: `${get}User-Agent: any\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n${close}\r\n`,
      sum: 55,
    },
    { request: `${line('GET')}host: localhost\r\nconnection: close\r\n\r\n`, sum: 55 },
    { request: `${line('GET', `a=${a}&b=${b}`)}Host: localhost\r\n${close}\r\n`, sum: a + b },
    { request: `${line('POST')}${post}Content-Length: 2\r\n\r\n20`, sum: 75 },
    { request: `${line('POST')}${post.toLowerCase()}content-length: 2\r\n\r\n20`, sum: 75 },
    {
      request: `${line('POST', `a=${a}&b=${b}`)}${post}Content-Length: 3\r\n\r\n${body}`,
      sum: a + b + body,
    },
    { request: `${chunked}2\r\n20\r\n0\r\n\r\n`, sum: 75 },
    { request: `${chunked}1\r\n2\r\n1\r\n0\r\n0\r\n\r\n`, sum: 75 },
  ];
}

/** Sends nine forms of a request, each split once at every byte: about a thousand requests. */
export async function splitEverywhere(port: number): Promise<void> {
  const splits = shapes().flatMap(({ request, sum }) =>
    Array.from({ length: request.length - 1 }, (_, i) => ({
      parts: [request.slice(0, i + 1), request.slice(i + 1)],
      sum,
    })),
  );
  for (let i = 0; i < splits.length; i += atOnce) {
    await Promise.all(
      splits.slice(i, i + atOnce).map(async ({ parts, sum }) => {
        const response = await sendParts(port, parts, pauseMs);
        assert.equal(bodyOf(response), String(sum), `split as ${JSON.stringify(parts)}`);
      }),
    );
  }
}
