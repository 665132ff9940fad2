import '@redline/http/register';
import { createServer, Server } from 'node:http';
import { engine } from '@redline/http';

const server = createServer((request, response) => response.end('a response'));
server.listen(0, '127.0.0.1', async () => {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
  const besides = server instanceof Server ? 'a Server of node:http' : 'a foreign server';
  console.log(JSON.stringify({ result: await response.text(), besides, engine: engine(server) }));
  process.exit();
});
