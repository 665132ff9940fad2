const { createServer } = require('node:http');
const { NodeAdapter } = require('faye');

const server = createServer((request, response) => response.end('Hello, non-Bayeux request'));
new NodeAdapter({ mount: '/faye', timeout: 45 }).attach(server);
server.listen(process.env.PORT);
