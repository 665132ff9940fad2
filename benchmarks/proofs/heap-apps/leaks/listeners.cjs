// Each request adds a listener and never removes it.
const { EventEmitter } = require('node:events');
const http = require('node:http');

const changes = new EventEmitter().setMaxListeners(0);

function answer(request, response) {
  const seen = [];
  changes.on('change', (name) => seen.push(name)); // leaks here
  response.end(String(seen.length));
}

http.createServer(answer).listen(process.env.PORT, '127.0.0.1');
