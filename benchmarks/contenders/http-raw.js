// A listener alone, without a framework: on node:http, or on the engine (ENGINE=redline).
import process from 'node:process';
import { hold } from './http-idle.js';
import { json, product, stream, sum, work } from './http-work.js';

const { createServer } =
  process.env.ENGINE === 'redline' ? await import('@redline/http') : await import('node:http');
const answerHead = { 'Content-Type': json, 'Content-Length': Buffer.byteLength(product) };

const server = createServer((request, response) => {
  if (request.url === '/' || request.url === '/busy') {
    if (request.url === '/busy') work();
    response.writeHead(200, answerHead);
    response.end(product);
  } else if (request.url === '/order') {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const text = sum(JSON.parse(Buffer.concat(parts).toString()));
      response.writeHead(200, { 'Content-Type': json, 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    });
  } else if (request.url === '/stream') {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
    stream().pipe(response);
  } else if (request.url === '/idle') {
    hold(server).then((figures) => response.end(JSON.stringify(figures)));
  } else {
    response.writeHead(404);
    response.end();
  }
});
server.listen(Number(process.env.PORT), process.env.HOST);
