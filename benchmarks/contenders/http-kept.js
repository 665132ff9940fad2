// A listener on the engine, with so many other responses in its store: `http-kept.js COUNT`.
import process from 'node:process';
import { responseStoreOf, createServer } from '@redline/http';
import { json, product } from './http-work.js';

const count = Number(process.argv[2]);
const responseHead = { 'Content-Type': json, 'Content-Length': Buffer.byteLength(product) };

const server = createServer((_, response) => {
  response.writeHead(200, responseHead);
  response.end(product);
});
server.listen(Number(process.env.PORT), process.env.HOST, () => {
  for (let number = 1; number <= count; number++) {
    responseStoreOf(server).keep(`/kept/${number}`, { body: 'ok', freshMs: 3_600_000 });
  }
});
