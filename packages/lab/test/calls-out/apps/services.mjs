// cspell:ignore hgetall
// A server with one route for each kind of client, loaded as ES modules.
import { createServer, get as httpGet } from 'node:http';
import { once } from 'node:events';
import BetterSqlite from 'better-sqlite3';
import { Redis } from 'ioredis';
import mysql from 'mysql2';
import mysqlPromise from 'mysql2/promise';
import { createClient } from 'redis';
import { request } from 'undici';

const { REDIS_URL, MYSQL_URL, OTHER_URL } = process.env;
const routes = {};

if (REDIS_URL) {
  const ioredis = new Redis(REDIS_URL);
  const redis = createClient({ url: REDIS_URL });
  await redis.connect();
  await redis.set('user:1:secret9', 'secret');
  routes['/ioredis'] = async function viaIoredis() {
    const user = await ioredis.get('user:1:secret9');
    const pipeline = ioredis.pipeline();
    for (let id = 0; id < 3; id++) pipeline.hgetall(`cart:${id}`);
    return [user, (await pipeline.exec()).length];
  };
  routes['/ioredis-fails'] = async function failsInRedis() {
    return ioredis.lpush('user:1:secret9', 'secret').catch(({ message }) => message.slice(0, 9));
  };
  routes['/node-redis'] = async function viaNodeRedis() {
    const found = await Promise.all([1, 2].map((id) => redis.get(`user:${id}:secret9`)));
    const failed = await redis.lPush('user:1:secret9', 'secret').catch((error) => error.message);
    return [...found, failed.slice(0, 9)];
  };
}

if (OTHER_URL) {
  const bodyOf = async (url) => {
    const [response] = await once(httpGet(url), 'response');
    let body = '';
    for await (const chunk of response) body += chunk;
    return body;
  };
  routes['/http'] = async function viaHttp() {
    return bodyOf(`${OTHER_URL}/users/42?token=secret`);
  };
  routes['/fetch'] = async function viaFetch() {
    const response = await fetch(`${OTHER_URL}/users/42?token=secret`, {
      method: 'POST',
      body: 'secret',
    });
    return response.text();
  };
  routes['/undici'] = async function viaUndici() {
    const { body } = await request(`${OTHER_URL}/users/secret7`);
    return body.text();
  };
}

if (MYSQL_URL) {
  const pool = mysql.createPool(MYSQL_URL);
  const promises = mysqlPromise.createPool(MYSQL_URL);
  await promises.query(
    'CREATE TABLE IF NOT EXISTS users (id int PRIMARY KEY, name varchar(20), age int)',
  );
  await promises.query('INSERT IGNORE INTO users VALUES (1, "one", 1), (2, "two", 2)');
  routes['/mysql'] = async function viaMysql() {
    const [rows] = await promises.query(
      'SELECT name FROM users WHERE id = ? AND name <> "secret"',
      [1],
    );
    const [others] = await promises.execute('SELECT name FROM users WHERE id = ?', [2]);
    return [rows, others];
  };
  routes['/mysql-callbacks'] = () =>
    new Promise(function viaCallbacks(resolve) {
      pool.query("SELECT missing FROM users WHERE name = 'secret'", (error) => resolve(error.code));
    });
  routes['/mysql-events'] = async function viaEvents() {
    const query = pool.query('SELECT id FROM users');
    let rows = 0;
    query.on('result', () => rows++);
    await once(query, 'end');
    return rows;
  };
}

const sqlite = new BetterSqlite(':memory:');
sqlite.exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)');
sqlite.prepare('INSERT INTO users VALUES (?, ?)').run(1, 'secret');
routes['/sqlite'] = function viaSqlite() {
  return sqlite.prepare("SELECT id FROM users WHERE id = ? AND name = 'secret'").get(1);
};

createServer(async function handle({ url }, response) {
  const route = routes[url];
  if (route === undefined) response.writeHead(404).end();
  else response.end(JSON.stringify(await route()));
}).listen(process.env.PORT, '127.0.0.1');
