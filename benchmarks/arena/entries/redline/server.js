// @redline/http alone, which has the shape of node:http: no router, and no parser of bodies.
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from '@redline/http';

const server = createServer((request, response) => {
  // A client that is gone in the middle of its body is not worth the thread.
  respond(request, response).catch(() => response.destroy());
});

async function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/baseline11') {
    const body = request.method === 'POST' ? Number(await text(request)) : 0;
    const sum = Number(searchParams.get('a')) + Number(searchParams.get('b')) + body;
    sendText(response, String(sum));
  } else if (pathname === '/pipeline') {
    sendText(response, 'ok');
  } else if (pathname.startsWith('/delay/')) {
    const ms = Number(pathname.slice('/delay/'.length));
    await delay(ms);
    sendText(response, String(ms));
  } else {
    response.writeHead(404).end();
  }
}

function sendText(response, body) {
  response.writeHead(200, {
    'Content-Type': 'text/plain',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

server.listen(Number(process.env.PORT ?? 8080), process.env.HOST ?? '0.0.0.0');

export const close = () => new Promise((resolve) => server.close(resolve));
