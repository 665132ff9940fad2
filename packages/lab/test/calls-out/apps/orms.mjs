// A server that queries PostgreSQL through ORMs and query builders.
import { createServer } from 'node:http';
import { PrismaPg } from '@prisma/adapter-pg';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import knexOf from 'knex';
import { Pool } from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import { DataTypes, Sequelize } from 'sequelize';

const url = process.env.POSTGRES_URL;
const pool = new Pool({ connectionString: url });
await pool.query('CREATE TABLE IF NOT EXISTS people (id int PRIMARY KEY, name text NOT NULL)');
await pool.query("INSERT INTO people VALUES (1, 'secret') ON CONFLICT DO NOTHING");

const people = pgTable('people', { id: integer('id').primaryKey(), name: text('name') });
const db = drizzle(pool);
const knex = knexOf({ client: 'pg', connection: url });
const Person = new EntitySchema({
  name: 'people',
  columns: { id: { type: 'int', primary: true }, name: { type: 'text' } },
});
const source = await new DataSource({ type: 'postgres', url, entities: [Person] }).initialize();
const sequelize = new Sequelize(url, { logging: false });
const Model = sequelize.define(
  'people',
  { name: DataTypes.TEXT },
  { tableName: 'people', timestamps: false },
);

// What the client that Prisma generates calls.
const adapter = await new PrismaPg({ connectionString: url }).connect();

const routes = {
  '/drizzle': async function viaDrizzle() {
    return await db.select().from(people).where(eq(people.id, 1));
  },
  '/knex': async function viaKnex() {
    return await knex('people').where({ id: 1, name: 'secret' }).first();
  },
  '/typeorm': async function viaTypeorm() {
    return await source.getRepository(Person).findOneBy({ id: 1 });
  },
  '/prisma': async function viaPrisma() {
    const sql = 'SELECT "name" FROM "people" WHERE "id" = $1';
    return (
      await adapter.queryRaw({ sql, args: [1], argTypes: [{ scalarType: 'int', arity: 'scalar' }] })
    ).rows;
  },
  '/sequelize': async function viaSequelize() {
    return await Model.findAll({ where: { name: 'secret' } });
  },
};

createServer(async function handle({ url: path }, response) {
  const route = routes[path];
  if (route === undefined) response.writeHead(404).end();
  else response.end(JSON.stringify(await route()));
}).listen(process.env.PORT, '127.0.0.1');
