// baseline.js with the import changed.
import { spawn } from '@redline/child-process';
import http from 'node:http';
import { command, host, port } from './workload.js';

http
  .createServer((_request, response) => {
    const { stdout } = spawn(...command);
    stdout.pipe(response);
    // A client that goes away must not leave a child behind that waits for a reader.
    response.on('close', () => stdout.destroy());
  })
  .listen(port, host);
