// An app through RedlineFactory, in a process of its own: the engine is chosen once for each process. What it logs goes
// to stdout; where it listens and what engine() says of it go over IPC.
import cluster from 'node:cluster';

import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { engine, RedlineFactory } from '@redline/nest';

interface Orders {
  adapter: 'fastify' | 'express';
  cluster?: boolean;
}

@Controller()
class HelloController {
  @Get('hello')
  hello(): object {
    return { hello: 'world' };
  }
}

@Module({ controllers: [HelloController] })
class HelloModule {}

const orders = JSON.parse(process.argv[2] as string) as Orders;
if (orders.cluster && cluster.isPrimary) {
  const worker = cluster.fork();
  worker.on('message', (message) => process.send?.(message));
  process.once('message', () => worker.kill());
  worker.once('exit', () => process.exit());
} else {
  const app = await RedlineFactory.create<INestApplication>(HelloModule, {
    adapter: orders.adapter,
  });
  await app.listen(0, '127.0.0.1');
  process.send?.({ url: await app.getUrl(), serving: engine(app.getHttpServer()) });
  process.once('message', () => process.exit());
}
