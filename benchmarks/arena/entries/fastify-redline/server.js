// Fastify, with the server of @redline/http underneath.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import compress from '@fastify/compress';
import Fastify from 'fastify';
import { serverFactory } from '@redline/http';

const items = JSON.parse(readFileSync(process.env.DATASET ?? '/data/dataset.json', 'utf8'));

const app = Fastify({ serverFactory });
await app.register(compress);
// Bodies without a content type, too.
app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));

const integer = { type: 'integer' };
const operands = {
  type: 'object',
  properties: { a: integer, b: integer },
  required: ['a', 'b'],
};
app.get('/baseline11', { schema: { querystring: operands } }, (request, reply) => {
  const { a, b } = request.query;
  reply.type('text/plain').send(String(a + b));
});
app.post('/baseline11', { schema: { querystring: operands } }, (request, reply) => {
  const { a, b } = request.query;
  reply.type('text/plain').send(String(a + b + Number(request.body)));
});

app.get('/pipeline', (_, reply) => {
  reply.type('text/plain').send('ok');
});

const duration = { type: 'object', properties: { ms: integer }, required: ['ms'] };
app.get('/delay/:ms', { schema: { params: duration } }, async (request, reply) => {
  await delay(request.params.ms);
  reply.type('text/plain');
  return String(request.params.ms);
});

const selection = {
  params: { type: 'object', properties: { count: integer }, required: ['count'] },
  querystring: { type: 'object', properties: { m: integer }, required: ['m'] },
};
app.get('/json/:count', { schema: selection }, (request, reply) => {
  const { m } = request.query;
  const chosen = items.slice(0, request.params.count);
  const priced = chosen.map((item) => ({ ...item, total: item.price * item.quantity * m }));
  reply.send({ items: priced, count: priced.length });
});

await app.listen({
  port: Number(process.env.PORT ?? 8080),
  host: process.env.HOST ?? '0.0.0.0',
});

export const close = () => app.close();
