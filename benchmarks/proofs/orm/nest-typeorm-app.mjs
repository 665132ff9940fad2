// Nest on TypeORM and pg, without a build: a middleware, a guard that asks the database, a service with a transaction, an
// interceptor that serializes.
import 'reflect-metadata';
import {
  Controller,
  Get,
  Injectable,
  Module,
  Req,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { map } from 'rxjs';
import { DataSource, EntitySchema } from 'typeorm';
import { spin } from '../added-cost.mjs';
import { rowsAtFirst } from './rows.mjs';

const key = { type: Number, primary: true, generated: true };
const User = new EntitySchema({ name: 'user', columns: { id: key, name: { type: String } } });
const Order = new EntitySchema({
  name: 'order',
  columns: {
    id: key,
    userId: { type: Number },
    product: { type: String },
    price: { type: Number },
  },
});

class Orders {
  constructor(database) {
    this.database = database;
  }

  async onModuleInit() {
    await this.database.getRepository(User).save(rowsAtFirst.users);
    await this.database.getRepository(Order).save(rowsAtFirst.orders);
  }

  async findUser() {
    return this.database.getRepository(User).findOneBy({ id: 1 });
  }

  async findOrders(user) {
    return this.database.transaction(async function inTransaction(manager) {
      return selectOrders(manager, user);
    });
  }
}
Injectable()(Orders);
Reflect.defineMetadata('design:paramtypes', [DataSource], Orders);

async function selectOrders(manager, user) {
  spin('database');
  return manager.getRepository(Order).find({ where: { userId: user.id }, order: { id: 'asc' } });
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

  async getOrders(request) {
    const orders = await this.orders.findOrders(request.user);
    spin('handler');
    return orders.map(({ id, product, price }) => ({ id, product, price: price * 2 }));
  }
}
Reflect.defineMetadata('design:paramtypes', [Orders], OrderController);
Controller('orders')(OrderController);
const { prototype } = OrderController;
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'getOrders');
Get()(prototype, 'getOrders', descriptor);
Req()(prototype, 'getOrders', 0);
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
const database = TypeOrmModule.forRoot({
  type: 'postgres',
  url: process.env.POSTGRES_URL,
  poolSize: 10,
  entities: [User, Order],
  synchronize: true,
  dropSchema: true,
});
Module({ imports: [database], controllers: [OrderController], providers: [Orders] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(Number(process.env.PORT), '127.0.0.1');
