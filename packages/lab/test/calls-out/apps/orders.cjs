'use strict';
// A server with a pool of pg, and one route for each way to query it.
const { once } = require('node:events');
const { createServer } = require('node:http');
const { promisify } = require('node:util');
const { Client, Pool, Query } = require('pg');

const pool = new Pool({ connectionString: process.env.POSTGRES_URL, max: 4 });

async function getUser(id) {
  const { rows } = await pool.query('SELECT id, name FROM users WHERE id = $1', [id]);
  return rows[0];
}

async function attachOrders(user) {
  user.orders = [];
  for (let id = 1; id <= 10; id++) {
    user.orders.push(await findOrder(id));
  }
}

async function findOrder(id) {
  const { rows } = await pool.query({
    text: 'SELECT total FROM orders /* secret-comment */ WHERE user_id = $1',
    values: [id],
  });
  return rows[0];
}

async function together() {
  const found = await Promise.all([1, 2, 3].map((id) => getUser(id)));
  return found.map(({ name }) => name);
}

function withCallbacks(done) {
  pool.query(
    "SELECT name FROM users WHERE name = 'secret-name' OR id IN (1, 2, 3)",
    (error, first) => {
      if (error) return done(error);
      pool.query('SELECT 1 + $1::int AS sum, $$secret$$', [41], (failed, second) =>
        done(failed, [first.rows.length, second.rows[0].sum]),
      );
    },
  );
}

async function inTransaction() {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT count(*)::int AS all FROM users');
    await client.query('COMMIT');
    return rows[0].all;
  } finally {
    client.release();
  }
}

async function failing() {
  try {
    await pool.query("SELECT * FROM missing WHERE password = 'secret-password'");
  } catch (error) {
    return error.code;
  }
}

async function byEvents() {
  const client = await pool.connect();
  const query = client.query(new Query('SELECT id FROM users'));
  let rows = 0;
  query.on('row', () => rows++);
  await once(query, 'end');
  client.release();
  return rows;
}

async function userWithOrders() {
  const user = await getUser(1);
  await attachOrders(user);
  return user;
}

const routes = {
  '/user': userWithOrders,
  '/together': together,
  '/callbacks': promisify(withCallbacks),
  '/transaction': inTransaction,
  '/failing': failing,
  '/events': byEvents,
};

async function listen() {
  const client = new Client({ connectionString: process.env.POSTGRES_URL });
  await client.connect();
  await client.query(`
    CREATE TABLE IF NOT EXISTS users (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE IF NOT EXISTS orders (id serial PRIMARY KEY, user_id int NOT NULL, total int NOT NULL, note text NOT NULL DEFAULT '');
    INSERT INTO users SELECT id, 'user ' || id FROM generate_series(1, 10) AS id ON CONFLICT DO NOTHING;
    INSERT INTO orders (user_id, total) SELECT id % 10 + 1, id FROM generate_series(1, 1000) AS id
      WHERE NOT EXISTS (SELECT FROM orders);
  `);
  await client.end();
  createServer(async function handle(request, response) {
    const route = routes[request.url];
    if (route === undefined) response.writeHead(404).end();
    else response.end(JSON.stringify(await route()));
  }).listen(process.env.PORT, '127.0.0.1');
}

void listen();
