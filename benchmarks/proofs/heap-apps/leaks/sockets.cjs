// Connections are collected for the shutdown and not removed when they close.
const http = require('node:http');

const sockets = new Set();

const server = http.createServer((request, response) => response.end(String(sockets.size)));
server.on('connection', (socket) => {
  sockets.add(socket); // leaks here
});
server.listen(process.env.PORT, '127.0.0.1');
