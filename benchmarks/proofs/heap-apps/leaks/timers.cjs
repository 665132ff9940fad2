// A heartbeat for each request, which nothing stops.
const http = require('node:http');

function answer(request, response) {
  const connection = { url: request.url, beats: 0 };
  setInterval(() => connection.beats++, 3_600_000).unref(); // leaks here
  response.end('ok');
}

http.createServer(answer).listen(process.env.PORT, '127.0.0.1');
