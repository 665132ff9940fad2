import { createServer, engine } from '@redline/http';
import { engineLines } from '@redline/http/pino';
import pino from 'pino';

const server = createServer((request, response) => response.end('a response'));
server.listen(0, '127.0.0.1', async () => {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
  const besides = `lines: ${typeof engineLines(pino({ level: 'silent' }))}`;
  console.log(JSON.stringify({ result: await response.text(), besides, engine: engine(server) }));
  process.exit();
});
