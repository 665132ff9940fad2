import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';

import {
  BadGatewayException,
  Body,
  type CanActivate,
  type DynamicModule,
  Controller,
  Get,
  Injectable,
  Logger,
  Module,
  NotFoundException,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
  UseGuards,
} from '@nestjs/common';
import { InjectLogger, LoggerModule, type LoggerModuleOptions, PinoLogger } from '@redline/nest';
import type { FastifyReply, FastifyRequest } from 'fastify';

@Injectable()
export class Deep {
  readonly #native = new Logger('Native');

  constructor(@InjectLogger('Deep') readonly logger: PinoLogger) {}

  async work(label: string): Promise<void> {
    this.logger.info({ label }, 'before %s', 'await');
    await sleep(2);
    this.logger.info({ label }, 'after await');
    await new Promise<void>((resolve) => {
      setTimeout(() => {
        this.logger.info({ label }, 'in a timer');
        this.#native.log(`native ${label}`);
        resolve();
      }, 2);
    });
  }
}

@Injectable()
class Refuse implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

class Teapot extends Error {
  readonly expose = true;
  readonly status = 418;
  readonly statusCode = 418;
}

@Controller()
export class Routes {
  readonly #deep: Deep;

  constructor(deep: Deep) {
    this.#deep = deep;
  }

  @Get('hello')
  hello(): { hello: string } {
    return { hello: 'world' };
  }

  @Get('items/:id')
  item(@Param('id') id: string): { id: string } {
    return { id };
  }

  @Get('throw')
  fail(): never {
    throw new TypeError('handler broke');
  }

  @Get('gateway')
  gateway(): never {
    throw new BadGatewayException('upstream broke');
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException('no such thing');
  }

  @Get('teapot')
  teapot(): never {
    throw new Teapot('short and stout');
  }

  @Get('guarded')
  @UseGuards(Refuse)
  guarded(): string {
    return 'never';
  }

  @Get('status/:code')
  status(@Param('code') code: string, @Res() reply: FastifyReply): void {
    void reply.status(Number(code)).send({ code });
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(Readable.from([Buffer.from('one '), Buffer.from('two')]));
  }

  @Get('broken-stream')
  brokenStream(): StreamableFile {
    const file = new StreamableFile(
      Readable.from(
        (async function* () {
          yield Buffer.from('one ');
          await sleep(5);
          throw new Error('source broke');
        })(),
      ),
    );
    // Nest's own handler would answer for the stream; this one leaves it to Fastify.
    return file.setErrorHandler((error, reply) =>
      (reply as { destroy?(error: Error): void }).destroy?.(error),
    );
  }

  @Get('endless')
  endless(): StreamableFile {
    return new StreamableFile(
      new Readable({
        read() {
          setTimeout(() => this.push('x'), 5);
        },
      }),
    );
  }

  @Get('hang')
  hang(): Promise<never> {
    return new Promise(() => {});
  }

  @Post('hang')
  hangOnBody(@Body() _body: unknown): Promise<never> {
    return new Promise(() => {});
  }

  @Get('deep/:label')
  async deep(@Param('label') label: string): Promise<{ label: string }> {
    await this.#deep.work(label);
    return { label };
  }

  @Post('deep')
  async deepPost(@Body() body: { label: string }): Promise<{ label: string }> {
    await this.#deep.work(body.label);
    return body;
  }

  @Post('assign')
  async assign(@Body() body: Record<string, unknown>): Promise<void> {
    this.#deep.logger.assign(body);
    await sleep(1);
    this.#deep.logger.assign({ step: 2 });
    this.#deep.logger.info('assigned');
  }

  @Get('own-log')
  ownLog(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    request.log.info({ from: 'request' }, 'through request.log');
    reply.log.warn({ from: 'reply' }, 'through reply.log');
    request.log.child({ part: 'child' }).info('through a child');
    request.log.debug('below the level');
    void reply.send({ id: request.id });
  }

  @Get('twice')
  twice(@Res() reply: FastifyReply): void {
    void reply.send({ first: true });
    void reply.send({ second: true });
  }
}

/** The routes above with the logger under test. */
export function appModule(options: LoggerModuleOptions): DynamicModule {
  return {
    module: AppModule,
    imports: [LoggerModule.forRoot(options)],
    providers: [Deep],
    controllers: [Routes],
  };
}

@Module({})
export class AppModule {}
