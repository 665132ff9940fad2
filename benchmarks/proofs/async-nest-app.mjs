// Nest without a build: a middleware, a guard that asks the database, a service with a transaction, an interceptor that serializes.
import 'reflect-metadata';
import { Controller, Get, Injectable, Module, UseGuards, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { map } from 'rxjs';
import { spin } from './added-cost.mjs';
import { query, withClient } from './pool.mjs';

class Orders {
  async findUser() {
    return withClient(async function selectUser(client) {
      const [row] = await query(client, 'select user');
      return { id: row.id };
    });
  }

  async findOrders() {
    return withClient(async function transaction(client) {
      await query(client, 'begin');
      try {
        const rows = await selectOrders(client);
        await query(client, 'commit');
        return rows;
      } catch (error) {
        await query(client, 'rollback');
        throw error;
      }
    });
  }
}
Injectable()(Orders);

async function selectOrders(client) {
  spin('database');
  const rows = await query(client, 'select orders');
  return rows.concat(rows, rows);
}

class SignedIn {
  constructor(orders) {
    this.orders = orders;
  }

  async canActivate(context) {
    context.switchToHttp().getRequest().user = await this.orders.findUser();
    spin('guard');
    return true;
  }
}
Injectable()(SignedIn);
Reflect.defineMetadata('design:paramtypes', [Orders], SignedIn);

class Envelope {
  intercept(context, next) {
    return next.handle().pipe(map((data) => serialize(data)));
  }
}
Injectable()(Envelope);

function serialize(data) {
  spin('serializer');
  return { data };
}

class OrderController {
  constructor(orders) {
    this.orders = orders;
  }

  async getOrders() {
    const orders = await this.orders.findOrders();
    spin('handler');
    return orders.map(({ id }) => ({ id, price: id * 2 }));
  }
}
Reflect.defineMetadata('design:paramtypes', [Orders], OrderController);
Controller('orders')(OrderController);
const { prototype } = OrderController;
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'getOrders');
Get()(prototype, 'getOrders', descriptor);
UseGuards(SignedIn)(prototype, 'getOrders', descriptor);
UseInterceptors(Envelope)(prototype, 'getOrders', descriptor);

class AppModule {
  configure(consumer) {
    consumer
      .apply(function tagRequest(request, response, next) {
        spin('middleware');
        request.tag = 'a1';
        next();
      })
      .forRoutes('*path');
  }
}
Module({ controllers: [OrderController], providers: [Orders] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(Number(process.env.PORT), '127.0.0.1');
