// A deadline for each request, cleared by its response.
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');

async function answer(request, response) {
  const deadline = setTimeout(() => response.destroy(), 60_000);
  await sleep(1);
  response.end('ok');
  clearTimeout(deadline);
}

http.createServer(answer).listen(process.env.PORT, '127.0.0.1');
