import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { workerData, type MessagePort } from 'node:worker_threads';
import { createServer } from '../../src/index.ts';
import { Observation } from './observer.ts';

// Before an engine is opened: the records of the first request are complete.
const observation = new Observation();
let url: string | undefined;
const server = createServer((_, response) => {
  setImmediate(() => {
    url = observation.url;
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  http.get({ port, host: '127.0.0.1', path: '/worker', agent: false }, async (response) => {
    response.resume();
    const facts = await observation.facts('END');
    (workerData as MessagePort).postMessage({ facts, begun: observation.begun, url }, []);
    server.close();
  });
});
