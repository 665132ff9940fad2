/* oxlint-disable oxc/no-async-endpoint-handlers */
'use strict';
// Bodies, read by the app's own listeners and by a parser of Express.
const { createServer } = require('node:http');
const express = require('express');

const turn = () => new Promise((resolve) => setImmediate(resolve));

function readOrder(request, response) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async function onEnd() {
    const order = parseOrder(Buffer.concat(chunks));
    await turn();
    const saved = await saveOrder(order);
    response.end(present(saved));
  });
}

function parseOrder(text) {
  return JSON.parse(text);
}

async function saveOrder({ items }) {
  await turn();
  return { count: items.length };
}

function present(saved) {
  return JSON.stringify(saved);
}

const app = express();
app.use(express.json({ limit: '1mb' }));
app.post('/parsed', async function postOrder(request, response) {
  const saved = await saveOrder(request.body);
  response.end(present(saved));
});

createServer((request, response) =>
  request.url === '/read' ? readOrder(request, response) : app(request, response),
).listen(Number(process.env.PORT), '127.0.0.1');
