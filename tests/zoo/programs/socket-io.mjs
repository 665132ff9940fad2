// After "Get started" of socket.io: a chat.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const server = createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<h1>Chat</h1>');
});
const io = new Server(server, { cors: { origin: 'http://a.example' } });
io.on('connection', (socket) => {
  socket.emit('welcome', 'hello');
  socket.on('chat message', (message, acknowledge) => {
    io.emit('chat message', message);
    acknowledge?.('seen');
  });
});
server.listen(process.env.PORT);
