// baseline.js over createPool. SIZE, RUNTIME, TRANSPORT and BALANCE are its options.
import { createPool } from '@redline/child-process';
import http from 'node:http';
import { command, host, port } from './workload.js';

const { SIZE, RUNTIME, TRANSPORT, BALANCE } = process.env;
const pool = createPool({
  size: Number(SIZE ?? 8),
  runtime: RUNTIME,
  transport: TRANSPORT,
  balance: BALANCE,
});

http
  .createServer((_request, response) => {
    const { stdout } = pool.spawn(...command);
    stdout.pipe(response);
    // A client that goes away must not leave a child behind that waits for a reader.
    response.on('close', () => stdout.destroy());
  })
  .listen(port, host);
