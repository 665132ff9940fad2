// redline.js with the other import changed too: node:http's server on the HTTP engine.
import { spawn } from '@redline/child-process';
import { createServer } from '@redline/http';
import { command, host, port } from './workload.js';

createServer((_request, response) => {
  const { stdout } = spawn(...command);
  stdout.pipe(response);
  // A client that goes away must not leave a child behind that waits for a reader.
  response.on('close', () => stdout.destroy());
}).listen(port, host);
