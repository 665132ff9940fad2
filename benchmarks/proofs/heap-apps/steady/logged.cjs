// A log line with an object for each request, and one load at a time for each key.
const http = require('node:http');

const flights = new Map();

function load(key) {
  let flight = flights.get(key);
  if (flight === undefined) {
    flight = Promise.resolve({ key, at: Date.now() }).finally(() => flights.delete(key));
    flights.set(key, flight);
  }
  return flight;
}

http
  .createServer(async (request, response) => {
    const found = await load(`${request.url}?${Math.floor(Math.random() * 1e9)}`);
    console.log({ url: request.url, found });
    response.end('ok');
  })
  .listen(process.env.PORT, '127.0.0.1');
