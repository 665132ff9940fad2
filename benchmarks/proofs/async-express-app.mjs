/* oxlint-disable oxc/no-async-endpoint-handlers */
// Express, asynchronous all the way: a middleware, a guard that asks the database, a handler with a transaction, a serializer.
import express from 'express';
import { spin } from './added-cost.mjs';
import { query, withClient } from './pool.mjs';

const app = express();
app.use(function tagRequest(request, response, next) {
  spin('middleware');
  request.tag = 'a1';
  next();
});
app.use(async function requireUser(request, response, next) {
  request.user = await withClient(findUser);
  spin('guard');
  next();
});
app.get('/orders', async function getOrders(request, response) {
  const orders = await inTransaction(findOrders);
  spin('handler');
  const priced = orders.map(({ id }) => ({ id, user: request.user.id, price: id * 2 }));
  response.type('json').send(serialize(priced));
});

async function findUser(client) {
  const [row] = await query(client, 'select user');
  return { id: row.id };
}

async function inTransaction(work) {
  return withClient(async function transaction(client) {
    await query(client, 'begin');
    try {
      const result = await work(client);
      await query(client, 'commit');
      return result;
    } catch (error) {
      await query(client, 'rollback');
      throw error;
    }
  });
}

async function findOrders(client) {
  spin('database');
  const rows = await query(client, 'select orders');
  return rows.concat(rows, rows);
}

function serialize(value) {
  spin('serializer');
  return JSON.stringify(value);
}

app.listen(Number(process.env.PORT), '127.0.0.1');
