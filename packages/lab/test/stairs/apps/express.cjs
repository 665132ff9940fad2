/* oxlint-disable no-unused-vars, oxc/no-async-endpoint-handlers */
'use strict';
// Express, in the version that EXPRESS names: `express` is 5, `express-4` is 4.
const express = require(process.env.EXPRESS ?? 'express');

const app = express();
app.use(express.json());
app.use(function requestId(request, response, next) {
  request.id = 'a1';
  next();
});
app.use((request, response, next) => {
  setImmediate(next);
});
const router = express.Router();
router.get('/feed', authorise, async function feed(request, response) {
  const items = await loadItems();
  response.json({ id: request.id, items: price(items) });
});
app.use(router);
const shelves = express.Router();
shelves.get('/:id', (request, response) => {
  response.json({ id: request.params.id });
});
const api = express.Router();
api.use('/items', shelves);
app.use('/api', api);
app.use((error, request, response, next) => {
  console.error(error);
  response.status(500).json({ error: String(error) });
});

function authorise(request, response, next) {
  verify(request.headers);
  next();
}

function verify(headers) {
  return headers.host !== undefined;
}

async function loadItems() {
  return [1, 2, 3];
}

function price(items) {
  return items.map((item) => item * 2);
}

app.listen(Number(process.env.PORT), '127.0.0.1');
