import { createServer, engine, runThreads } from '@redline/http';

const server = createServer((request, response) => response.end('a response'));
server.listen(0, '127.0.0.1', async () => {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
  const threads = runThreads(1, new URL('data:text/javascript,'));
  const besides = await threads.started.then(
    () => 'threads run',
    ({ message }) => message,
  );
  console.log(JSON.stringify({ result: await response.text(), besides, engine: engine(server) }));
  process.exit();
});
