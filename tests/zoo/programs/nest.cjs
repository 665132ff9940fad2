// The starter of Nest, without decorators' syntax; ON is its platform.
require('reflect-metadata');
const {
  Body,
  Controller,
  Get,
  HttpCode,
  Module,
  Param,
  ParseIntPipe,
  Post,
  Redirect,
} = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

class AppController {
  hello() {
    return 'Hello World!';
  }
  item(id) {
    return { id };
  }
  old() {}
  create(body) {
    return body;
  }
}
const method = (name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(AppController.prototype, name);
  for (const decorate of decorators) decorate(AppController.prototype, name, descriptor);
};
method('hello', Get());
Param('id', ParseIntPipe)(AppController.prototype, 'item', 0);
method('item', Get('items/:id'));
method('old', Get('old'), Redirect('/', 302));
Body()(AppController.prototype, 'create', 0);
method('create', Post('items'), HttpCode(201));
Controller()(AppController);
class AppModule {}
Module({ controllers: [AppController] })(AppModule);

async function main() {
  const options = { logger: false };
  const app =
    process.env.ON === 'fastify'
      ? await NestFactory.create(
          AppModule,
          new (require('@nestjs/platform-fastify').FastifyAdapter)(),
          options,
        )
      : await NestFactory.create(AppModule, options);
  app.enableCors();
  app.enableShutdownHooks();
  await app.listen(process.env.PORT, '127.0.0.1');
}
main();
