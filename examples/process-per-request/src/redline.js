// baseline.js with the import changed.
import { spawn } from '@redline/child-process';
import http from 'node:http';
import { command, host, port } from './workload.js';

http
  .createServer((_request, response) => spawn(...command).stdout.pipe(response))
  .listen(port, host);
