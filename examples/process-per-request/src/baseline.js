// The article's first server: one process for each request.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { command, host, port } from './workload.js';

http
  .createServer((_request, response) => spawn(...command).stdout.pipe(response))
  .listen(port, host);
