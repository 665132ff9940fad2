const { createServer } = require('node:http');
const Primus = require('primus');

const server = createServer((request, response) => response.end('primus'));
const primus = new Primus(server, { transformer: 'websockets' });
primus.on('connection', (spark) => spark.on('data', (data) => spark.write({ echo: data })));
server.listen(process.env.PORT);
