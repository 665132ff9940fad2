const { createServer } = require('node:http');
const sockjs = require('sockjs');

const echo = sockjs.createServer({ log: () => {} });
echo.on('connection', (connection) =>
  connection.on('data', (message) => connection.write(message)),
);
const server = createServer((request, response) => response.end('sockjs'));
echo.installHandlers(server, { prefix: '/echo' });
server.listen(process.env.PORT);
