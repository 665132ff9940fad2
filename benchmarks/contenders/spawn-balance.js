// A pool under one of its balancing policies (BALANCE): a short process at /, a chatty one at /heavy.
import { createPool } from '@redline/child-process';
import http from 'node:http';
import process from 'node:process';

const pool = createPool({ size: 4, balance: process.env.BALANCE });
const light = ['echo', ['hi']];
/** Eight times the text: the worker that gets it is busy passing it on. */
const heavy = ['cat', Array.from({ length: 8 }, () => process.env.TEXT_FILE)];

http
  .createServer((request, response) => {
    const command = request.url === '/heavy' ? heavy : light;
    const { stdout } = pool.spawn(...command);
    stdout.pipe(response);
    response.on('close', () => stdout.destroy());
  })
  .listen(process.env.PORT, process.env.HOST);
