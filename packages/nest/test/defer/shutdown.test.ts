import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  type INestApplication,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AfterResponse, DeferModule } from '@redline/nest';
import { onBothFrameworks } from './harness.ts';

@Injectable()
class Database implements OnApplicationShutdown {
  isOpen = true;
  rows = 0;
  readonly released: PromiseWithResolvers<void> = Promise.withResolvers();

  onApplicationShutdown(): void {
    this.isOpen = false;
  }

  insert(): void {
    if (!this.isOpen) throw new Error('the database is closed');
    this.rows++;
  }
}

@Module({ providers: [Database], exports: [Database] })
class DatabaseModule {}

@Injectable()
class Audit {
  readonly #database: Database;

  constructor(@Inject(Database) database: Database) {
    this.#database = database;
  }

  @AfterResponse()
  async keep(): Promise<void> {
    // Still under way when the server is closed.
    await this.#database.released.promise;
    this.#database.insert();
  }
}

@Controller()
class Calls {
  readonly #audit: Audit;

  constructor(@Inject(Audit) audit: Audit) {
    this.#audit = audit;
  }

  @Get('call')
  call(): object {
    void this.#audit.keep();
    return {};
  }
}

onBothFrameworks('an app that closes', (framework) => {
  it('does what it deferred before any provider closes in onApplicationShutdown', async () => {
    @Module({
      imports: [DeferModule.forRoot({ logger: false, handleSignals: false }), DatabaseModule],
      controllers: [Calls],
      providers: [Audit],
    })
    class AppModule {}
    const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
    const app: INestApplication = await NestFactory.create(AppModule, adapter, {
      logger: false,
      forceCloseConnections: true,
    });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const database = app.get(Database);
    const calls = Array.from({ length: 100 }, async () => {
      await (await fetch(`${url}/call`)).text();
    });
    await Promise.all(calls);
    // Two turns are more than Nest takes from the end of the server to the hooks of the shutdown.
    app.getHttpServer().once('close', () => setImmediate(setImmediate, database.released.resolve));
    await app.close();
    assert.equal(database.rows, 100);
  });
});
