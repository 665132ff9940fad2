/* oxlint-disable no-unused-vars, oxc/no-async-endpoint-handlers */
'use strict';
// Express and a pool of eight clients, as applications use one: whoever gets a client gives it back in a `finally`, a
// `.finally()` or not at all.
const { writeFileSync } = require('node:fs');
const express = require('express');

const size = 8;
const free = Array.from({ length: size }, (_, id) => ({ id }));
const waiting = [];

function connect() {
  const client = free.pop();
  return client ? Promise.resolve(client) : new Promise((resolve) => waiting.push(resolve));
}

function release(client) {
  const next = waiting.shift();
  if (next) next(client);
  else free.push(client);
}

function query(client, text, done) {
  setTimeout(() => done(undefined, [{ id: client.id, text }]), 1);
}

function ask(client, text) {
  return new Promise((resolve, reject) =>
    query(client, text, (error, rows) => (error ? reject(error) : resolve(rows))),
  );
}

async function withClient(work) {
  const client = await connect();
  try {
    return await work(client);
  } finally {
    release(client);
  }
}

async function inTransaction(work) {
  return withClient(async (client) => {
    await ask(client, 'BEGIN');
    try {
      const result = await work(client);
      await ask(client, 'COMMIT');
      return result;
    } catch (error) {
      await ask(client, 'ROLLBACK');
      throw error;
    }
  });
}

const app = express();

app.use(async function loadSession(request, response, next) {
  try {
    request.user = await withClient((client) => findUser(client));
  } catch (error) {
    return next(error);
  }
  next();
});

async function findUser(client) {
  const [row] = await ask(client, 'user');
  return toUser(row);
}

function toUser(row) {
  return { id: row.id };
}

async function findOrders(client, user) {
  const rows = await ask(client, 'orders');
  return price(rows, user);
}

function price(rows) {
  return rows.map(({ text }) => text);
}

app.get('/orders', async function getOrders(request, response) {
  const orders = await inTransaction((client) => findOrders(client, request.user));
  response.json(present(orders));
});

function present(orders) {
  return { orders };
}

app.get('/single', async function getSingle(request, response) {
  const client = await connect();
  try {
    response.json(present(await readRows(client).finally(() => note(client))));
  } finally {
    release(client);
  }
});

function readRows(client) {
  return Promise.resolve(client)
    .then((given) => ask(given, 'single'))
    .then(countRows);
}

function countRows(rows) {
  return rows.length;
}

function note(client) {
  client.uses = (client.uses ?? 0) + 1;
}

// Here nothing can end between: the callback alone knows of the promise that everybody waits for.
app.get('/callback', async function getCallback(request, response) {
  const rows = await withClient(
    (client) =>
      new Promise((resolve) =>
        query(client, 'rows', function onRows(error, found) {
          resolve(found);
        }),
      ),
  );
  response.json(present(rows.length));
});

app.get('/free', (request, response) => response.json({ free: free.length }));
app.use((error, request, response, next) => {
  console.error('failed', error);
  next(error);
});

app.listen(Number(process.env.PORT), '127.0.0.1');

// What is under way comes to its end first.
process.on('SIGTERM', () => {
  const until = Date.now() + 2_000;
  setInterval(() => {
    if (free.length < size && Date.now() < until) return;
    const file = process.env.POOL_FILE;
    if (file) writeFileSync(file, JSON.stringify({ size, free: free.length }));
    process.exit();
  }, 10);
});
