// Nest without a build: decorators are called as the functions they are. PLATFORM is express or fastify.
import 'reflect-metadata';
import {
  Controller,
  Get,
  Injectable,
  mixin,
  Module,
  Param,
  ParseIntPipe,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { map } from 'rxjs';

class Prices {
  priceOf(id) {
    return { id, price: id * 2 };
  }
}
Injectable()(Prices);

class SignedIn {
  canActivate(context) {
    return check(context.switchToHttp().getRequest());
  }
}
Injectable()(SignedIn);

function check(request) {
  return request.headers.host !== undefined;
}

/** A guard from a factory, as packages make them: `mixin` gives its class a hash for a name. */
function withRole(role) {
  class MixinRoleGuard {
    canActivate() {
      return role !== undefined;
    }
  }
  return mixin(MixinRoleGuard);
}

class Envelope {
  intercept(context, next) {
    return next.handle().pipe(map((data) => wrapData(data)));
  }
}
Injectable()(Envelope);

function wrapData(data) {
  return { data };
}

class ProductController {
  constructor(prices) {
    this.prices = prices;
  }

  async findProduct(id) {
    return this.prices.priceOf(id);
  }
}
Reflect.defineMetadata('design:paramtypes', [Prices], ProductController);
Controller('products')(ProductController);
const { prototype } = ProductController;
Param('id', ParseIntPipe)(prototype, 'findProduct', 0);
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'findProduct');
Get(':id')(prototype, 'findProduct', descriptor);
UseGuards(SignedIn, withRole('reader'))(prototype, 'findProduct', descriptor);
UseInterceptors(Envelope)(prototype, 'findProduct', descriptor);

class AppModule {
  configure(consumer) {
    consumer
      .apply(function tagging(request, response, next) {
        request.tag = 1;
        next();
      })
      .forRoutes('*path');
  }
}
Module({ controllers: [ProductController], providers: [Prices] })(AppModule);

const options = { logger: ['error'] };
const app =
  process.env.PLATFORM === 'fastify'
    ? await NestFactory.create(
        AppModule,
        new (await import('@nestjs/platform-fastify')).FastifyAdapter(),
        options,
      )
    : await NestFactory.create(AppModule, options);
await app.listen(Number(process.env.PORT), '127.0.0.1');
