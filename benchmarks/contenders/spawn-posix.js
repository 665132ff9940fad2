// baseline.js of examples/process-per-request over posix_spawn on the main thread.
import http from 'node:http';
import { command, host, port } from '../../examples/process-per-request/src/workload.js';
import { spawn } from './posix-spawn/spawn.js';

http
  .createServer((_request, response) => {
    const { stdout } = spawn(...command);
    stdout.pipe(response);
    // A client that goes away must not leave a child behind that waits for a reader.
    response.on('close', () => stdout.destroy());
  })
  .listen(port, host);
