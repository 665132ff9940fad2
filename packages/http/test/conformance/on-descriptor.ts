// Listens on descriptor 3, which it was born with.
import * as node from 'node:http';
import * as redline from '../../src/index.ts';
import type { HttpModule } from './engine.ts';

const http = process.argv[2] === 'node' ? node : (redline as unknown as HttpModule);
const server = http.createServer((_, response) => {
  response.end('from a descriptor');
});
server.listen({ fd: 3 }, () => {
  process.stdout.write(JSON.stringify(server.address()));
});
