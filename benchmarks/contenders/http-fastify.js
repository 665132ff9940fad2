// Fastify: on node:http, or on the engine (ENGINE=redline).
import process from 'node:process';
import Fastify from 'fastify';
import { hold } from './http-idle.js';
import { json, product, stream, sum, work } from './http-work.js';

const options = {};
if (process.env.ENGINE === 'redline') {
  options.serverFactory = (await import('@redline/http')).serverFactory;
}
const app = Fastify(options);
app.get('/', (_, reply) => {
  reply.header('Content-Type', json).send(product);
});
app.get('/busy', (_, reply) => {
  work();
  reply.header('Content-Type', json).send(product);
});
app.post('/order', (request, reply) => {
  reply.header('Content-Type', json).send(sum(request.body));
});
app.get('/stream', (_, reply) => {
  reply.header('Content-Type', 'application/octet-stream').send(stream());
});
app.get('/idle', () => hold(app.server));
await app.listen({ port: Number(process.env.PORT), host: process.env.HOST });
