import type { Planted, SmallApp } from './small-apps.ts';

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** package.json of an app on the engine, so `node-http` finds nothing. */
const served = (dependencies: Record<string, string> = {}, more: object = {}): string =>
  json({
    scripts: { start: 'node --import @redline/http/register app.js' },
    dependencies,
    ...more,
  });

/** An Express app with one handler, after the code it needs. */
const express = (head: string, body: string): Record<string, string> => ({
  'package.json': served({ express: '5', pg: '8', ioredis: '5' }),
  'app.js': `import express from 'express';
${head}
const app = express();
app.get('/users', async (req, res) => {
${body}
});
app.listen(3000);
`,
});

const pool = "import pg from 'pg';\nconst pool = new pg.Pool();";
const redis =
  "import { Redis } from 'ioredis';\nconst redis = new Redis({ enableAutoPipelining: true });";

export const dataMistakes: Record<string, Planted> = {
  'a query for each row, in a loop': {
    rule: 'n-plus-one',
    files: express(
      pool,
      `  const { rows } = await pool.query('SELECT * FROM users');
  for (const user of rows) {
    const orders = await pool.query('SELECT * FROM orders WHERE user_id = $1', [user.id]); // <-
    user.orders = orders.rows;
  }
  res.json(rows);`,
    ),
  },
  'a query for each row, all at once and two files away': {
    rule: 'n-plus-one',
    files: {
      ...express(
        `${pool}\nimport { withOrders } from './orders.js';`,
        `  const { rows } = await pool.query('SELECT * FROM users');
  res.json(await Promise.all(rows.map((user) => withOrders(user)))); // <-`,
      ),
      'orders.js': `import { db } from './db.js';
export async function withOrders(user) {
  const { rows } = await db.query('SELECT * FROM orders WHERE user_id = $1', [user.id]);
  return { ...user, orders: rows };
}
`,
      'db.js': "import pg from 'pg';\nexport const db = new pg.Pool();\n",
    },
  },
  'a repository of TypeORM asked for each row': {
    rule: 'n-plus-one',
    files: {
      'package.json': json({ dependencies: { '@nestjs/core': '12', '@redline/nest': '0.1.0' } }),
      'src/users.controller.ts': `import { Controller, Get } from '@nestjs/common';
import { Repository } from 'typeorm';
import { Order, User } from './entities.js';
@Controller('users')
export class UsersController {
  constructor(
    private readonly users: Repository<User>,
    private readonly orders: Repository<Order>,
  ) {}
  @Get()
  async list(): Promise<User[]> {
    const users = await this.users.find();
    for (let at = 0; at < users.length; at++) {
      users[at]!.orders = await this.orders.find({ where: { userId: users[at]!.id } }); // <-
    }
    return users;
  }
}
`,
    },
  },
  'a command to Redis for each id': {
    rule: 'n-plus-one',
    files: express(
      redis,
      `  const found = [];
  for (const id of req.query.ids) {
    found.push(JSON.parse(await redis.get('user:' + id))); // <-
  }
  res.json(found);`,
    ),
  },
  'two queries that wait for each other': {
    rule: 'sequential-awaits',
    files: express(
      pool,
      `  const user = await pool.query('SELECT * FROM users WHERE id = $1', [req.query.id]);
  const orders = await pool.query('SELECT * FROM orders WHERE user_id = $1', [req.query.id]); // <-
  res.json({ user: user.rows[0], orders: orders.rows });`,
    ),
  },
  'two requests to other services in one response': {
    rule: 'sequential-awaits',
    files: express(
      '',
      `  res.json({
    weather: await fetch('http://weather/today'),
    news: await fetch('http://news/today'), // <-
  });`,
    ),
  },
  'a number format for each item': {
    rule: 'intl-per-call',
    files: express(
      'const items = [1, 2, 3];',
      "  res.json(items.map((item) => new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(item))); // <-",
    ),
  },
  'dates by locale for each item': {
    rule: 'intl-per-call',
    files: express(
      'const items = [new Date(0)];',
      "  res.json(items.map((at) => at.toLocaleDateString('de-DE', { timeZone: 'Europe/Berlin' }))); // <-",
    ),
  },
  'a pattern made for each item': {
    rule: 'regexp-per-call',
    files: express(
      'const items = [{ name: "a" }];',
      "  res.json(items.filter(({ name }) => new RegExp('^' + req.query.q, 'i').test(name))); // <-",
    ),
  },
  'a schema of Ajv compiled in a handler': {
    rule: 'client-per-request',
    files: express(
      "import Ajv from 'ajv';\nimport { schema } from './schema.js';\nconst ajv = new Ajv();",
      `  const validate = ajv.compile({ ...schema, required: ['id'] }); // <-
  res.json(validate(req.query));`,
    ),
  },
  'a copy by way of JSON': {
    rule: 'json-clone',
    files: express(
      'const settings = { a: { b: 1 } };',
      `  const own = JSON.parse(JSON.stringify(settings)); // <-
  own.a.b = req.query.b;
  res.json(own);`,
    ),
  },
  'KEYS in a handler, behind a function that returns itself in many places': {
    rule: 'redis-keys',
    files: express(
      `${redis}
function walk(node, sent) {
  if (node.a) return walk(node.a, walk(node.b));
  if (node.b) return walk(node.b, walk(node.c));
  if (node.c) return walk(node.c, walk(node.d));
  if (node.d) return walk(node.d, walk(node.e));
  if (node.e) return walk(node.e, walk(node.f));
  return walk(sent, node).send(walk(node.sent));
}`,
      "  walk(req.query).end();\n  res.json(await redis.keys('user:*')); // <-",
    ),
  },
  'KEYS in a handler': {
    rule: 'redis-keys',
    files: express(redis, "  res.json(await redis.keys('user:*')); // <-"),
  },
  'a listener of the process in a handler': {
    rule: 'listener-leak',
    files: express('', "  process.on('SIGTERM', () => res.end()); // <-\n  res.json(1);"),
  },
  'a listener of an emitter of the file in a handler': {
    rule: 'listener-leak',
    files: express(
      "import { EventEmitter } from 'node:events';\nconst bus = new EventEmitter();",
      "  bus.on('news', (item) => res.write(item)); // <-",
    ),
  },
  'compression on the app and on its router': {
    rule: 'compression-twice',
    files: {
      'package.json': served({ express: '5', compression: '1' }),
      'app.js': `const express = require('express');
const compression = require('compression');
const api = require('./api');
const app = express();
app.use(compression());
app.use('/api', api);
app.listen(3000);
`,
      'api.js': `const { Router } = require('express');
const compression = require('compression');
const r = Router();
r.use(compression({ level: 6 })); // <-
r.get('/', (req, res) => res.json({}));
module.exports = r;
`,
    },
  },
  'a development server in a Dockerfile': {
    rule: 'production-start',
    at: 'Dockerfile:3',
    files: {
      'package.json': json({
        scripts: {
          start: 'node --import @redline/http/register app.js',
          dev: 'tsx watch src/app.ts',
        },
      }),
      Dockerfile: 'FROM node:24\nCOPY . .\nCMD ["npm", "run", "dev"]\n',
      'app.js': '',
    },
  },
  'an old Node in .tool-versions': {
    rule: 'old-node',
    at: '.tool-versions:2',
    files: {
      'package.json': served(),
      'app.js': '',
      '.tool-versions': 'python 3.12\nnodejs 16.20.2\n',
    },
  },
  'an old Node in engines': {
    rule: 'old-node',
    at: 'package.json:7',
    files: { 'package.json': served({}, { engines: { node: '18.x' } }), 'app.js': '' },
  },
};

export const dataClean: Record<string, SmallApp> = {
  'one query for all, batches, tries and a cache by id': {
    files: express(
      `${pool}\nconst kept = new Map();`,
      `  const { rows } = await pool.query('SELECT * FROM users');
  const ids = rows.map((user) => user.id);
  for (const chunk of chunksOf(ids)) {
    await pool.query('SELECT * FROM orders WHERE user_id = ANY($1)', [chunk]);
  }
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await pool.query('SELECT 1 FROM jobs WHERE id = $1', [req.query.id]);
    if (answer.rows.length > 0) break;
  }
  for (const id of ids) {
    if (!kept.has(id)) kept.set(id, await pool.query('SELECT * FROM names WHERE id = $1', [id]));
  }
  res.json(rows);`,
    ),
  },
  'queries that need each other, are of one transaction, or write': {
    files: express(
      pool,
      `  const user = await pool.query('SELECT * FROM users WHERE id = $1', [req.query.id]);
  const orders = await pool.query('SELECT * FROM orders WHERE user_id = $1', [user.rows[0].id]);
  const client = await pool.connect();
  const stock = await client.query('SELECT * FROM stock');
  const price = await client.query('SELECT * FROM prices');
  const first = await pool.query('INSERT INTO seen VALUES ($1)', [1]);
  const second = await pool.query('INSERT INTO seen VALUES ($1)', [2]);
  res.json([user, orders, stock, price, first, second]);`,
    ),
  },
  'what is made once, and kept by locale': {
    files: express(
      `const euros = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });
const formats = new Map();
function formatOf(locale) {
  if (!formats.has(locale)) formats.set(locale, new Intl.NumberFormat(locale));
  return formats.get(locale);
}
const settings = JSON.parse(JSON.stringify({ a: 1 }));`,
      `  const pattern = new RegExp('^' + req.query.q);
  res.json([euros.format(1), formatOf(req.query.locale).format(2), pattern.test('a'), settings, new Date().toLocaleDateString('de-DE', { timeZone: 'UTC' })]);`,
    ),
  },
  'listeners that go with the response, and those of its own': {
    files: express(
      "import { EventEmitter } from 'node:events';\nimport { createReadStream } from 'node:fs';\nconst bus = new EventEmitter();",
      `  const listener = (item) => res.write(item);
  bus.on('news', listener);
  req.on('close', () => bus.off('news', listener));
  createReadStream('a.txt').on('data', (chunk) => res.write(chunk));`,
    ),
  },
  'SCAN, and a map with keys': {
    files: express(
      redis,
      `  const kept = new Map();
  for await (const names of redis.scanStream({ match: 'user:*' })) kept.set(names, 1);
  res.json([...kept.keys()]);`,
    ),
  },
  'a router that compresses in an app that does not': {
    files: {
      'package.json': served({ express: '5', compression: '1' }),
      'app.js': `const express = require('express');
const compression = require('compression');
const app = express();
const api = express.Router();
const files = express.Router();
api.use(compression());
files.use(compression());
app.use('/api', api);
app.use('/files', files);
app.listen(3000);
`,
    },
  },
  'a built app in a Dockerfile, and ranges that allow the newest Node': {
    files: {
      'package.json': json({
        scripts: {
          start: 'node --import @redline/http/register app.js',
          dev: 'tsx watch src/app.ts',
        },
        engines: { node: '>=18' },
      }),
      Dockerfile:
        'FROM node:24 AS build\nCMD ["npm", "run", "dev"]\nFROM node:24\nCMD ["node", "app.js"]\n',
      '.tool-versions': 'nodejs 24.1.0\n',
      'app.js': '',
    },
  },
};
