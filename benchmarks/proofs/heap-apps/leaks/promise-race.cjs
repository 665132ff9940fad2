// Every race adds reactions to a promise that never settles.
const http = require('node:http');

const shutdown = new Promise(() => {});

async function load(url) {
  await Promise.resolve();
  return { url, items: [1, 2, 3] };
}

async function answer(request, response) {
  const found = await Promise.race([shutdown, load(request.url)]); // leaks here
  response.end(JSON.stringify(found));
}

http.createServer(answer).listen(process.env.PORT, '127.0.0.1');
