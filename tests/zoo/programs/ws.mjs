// After the README of ws: an echo server beside pages.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((request, response) => response.end('ws'));
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
sockets.on('connection', (socket) => {
  socket.send('hello');
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.on('upgrade', (request, socket, head) => {
  if (request.url === '/refused') {
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno');
    return;
  }
  sockets.handleUpgrade(request, socket, head, (each) => sockets.emit('connection', each));
});
server.listen(process.env.PORT);
