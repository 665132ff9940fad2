// Each request removes its listener when its response closes.
const { EventEmitter } = require('node:events');
const http = require('node:http');

const changes = new EventEmitter().setMaxListeners(0);

http
  .createServer((request, response) => {
    const seen = [];
    const listener = (name) => seen.push(name);
    changes.on('change', listener);
    response.once('close', () => changes.off('change', listener));
    changes.emit('change', request.url);
    response.end(String(seen.length));
  })
  .listen(process.env.PORT, '127.0.0.1');
