// A stored response of the engine: `http-lines.js with`, with its line in the file LOG, or `without` one.
import process from 'node:process';
import { responseStoreOf, createServer } from '@redline/http';
import { engineLines } from '@redline/http/pino';
import { pino } from 'pino';
import { json, product } from './http-work.js';

const { HOST, PORT, LOG } = process.env;
const gathered = { minLength: 64 * 1_024, maxWrite: 128 * 1_024 };
const destination = { dest: LOG, sync: false, periodicFlush: 1_000, ...gathered };

const server = createServer((_, response) => response.writeHead(500).end());
server.listen(Number(PORT), HOST, () => {
  const store = responseStoreOf(server);
  const writesLines = process.argv[2] === 'with';
  if (writesLines) {
    store.log(engineLines(pino({ base: null }, pino.destination(destination))));
  }
  store.keep('/', {
    headers: { 'Content-Type': json },
    body: product,
    freshMs: 3_600_000,
    identify: 'public',
    line: writesLines ? store.lines.line : 0,
  });
});
