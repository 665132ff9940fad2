/* oxlint-disable oxc/no-async-endpoint-handlers */
// Express on Sequelize and pg: a middleware, a guard that asks the database, a handler with a transaction, a serializer.
import express from 'express';
import { DataTypes, Sequelize } from 'sequelize';
import { spin } from '../added-cost.mjs';
import { rowsAtFirst } from './rows.mjs';

const sequelize = new Sequelize(process.env.POSTGRES_URL, { logging: false, pool: { max: 10 } });
const timestamps = false;
const User = sequelize.define('user', { name: DataTypes.STRING }, { timestamps });
const Order = sequelize.define(
  'order',
  { userId: DataTypes.INTEGER, product: DataTypes.STRING, price: DataTypes.INTEGER },
  { timestamps },
);
await sequelize.sync({ force: true });
await User.bulkCreate(rowsAtFirst.users);
await Order.bulkCreate(rowsAtFirst.orders);

const app = express();
app.use(function tagRequest(request, response, next) {
  spin('middleware');
  request.tag = 'a1';
  next();
});
app.use(async function requireUser(request, response, next) {
  request.user = await User.findByPk(1);
  spin('guard');
  next();
});
app.get('/orders', async function getOrders(request, response) {
  const orders = await sequelize.transaction(async function inTransaction(transaction) {
    return findOrders(request.user, transaction);
  });
  spin('handler');
  const priced = orders.map(({ id, product, price }) => ({ id, product, price: price * 2 }));
  response.type('json').send(serialize(priced));
});

async function findOrders(user, transaction) {
  spin('database');
  return Order.findAll({ where: { userId: user.id }, order: ['id'], transaction });
}

function serialize(value) {
  spin('serializer');
  return JSON.stringify(value);
}

app.listen(Number(process.env.PORT), '127.0.0.1');
