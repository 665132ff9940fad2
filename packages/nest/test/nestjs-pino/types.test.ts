import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';

import type * as ours from '@redline/nest/nestjs-pino';
import { LoggerModule, PinoLogger } from '@redline/nest/nestjs-pino';
import type * as theirs from 'nestjs-pino';

/* The types of an app: a test of the compiler, which runs as far as anything of it does. */
interface AppRequest extends IncomingMessage {
  readonly tenant: string;
}
interface AppResponse extends ServerResponse {
  readonly page: number;
}
type Levels = 'audit' | 'trail';

type Unsupported = 'useExisting' | 'microservice';

describe('the type parameters of nestjs-pino', () => {
  it('are those of the same names here', () => {
    const params: ours.Params<AppRequest, AppResponse, Levels> = {
      pinoHttp: {
        customLevels: { audit: 35, trail: 15 },
        customProps: ({ tenant }, { page }) => ({ tenant, page }),
        customLogLevel: ({ tenant }) => (tenant === 'acme' ? 'audit' : 'info'),
        customSuccessMessage: ({ tenant }, { page }) => `${tenant} ${page}`,
        genReqId: ({ tenant }) => `${tenant}-1`,
        autoLogging: { ignore: ({ tenant }) => tenant === 'probe' },
      },
    };
    const { providers } = LoggerModule.forRoot<AppRequest, AppResponse, Levels>(params);
    assert.ok(providers!.length > 0);
    const asynchronous: ours.LoggerModuleAsyncParams<AppRequest, AppResponse, Levels> = {
      useFactory: () => params,
    };
    assert.ok(LoggerModule.forRootAsync(asynchronous).providers!.length > 0);
  });

  it('take what is typed for nestjs-pino', () => {
    const moved = (
      params: Omit<theirs.Params<AppRequest, AppResponse, Levels>, Unsupported>,
    ): ours.Params<AppRequest, AppResponse, Levels> => params;
    const movedPlain = (params: Omit<theirs.Params, Unsupported>): ours.Params => params;
    assert.deepEqual(moved({ pinoHttp: { quietReqLogger: true } }), {
      pinoHttp: { quietReqLogger: true },
    });
    assert.deepEqual(movedPlain({ assignResponse: true }), { assignResponse: true });
  });

  it('give the logger the custom levels', () => {
    const write = ({ logger }: PinoLogger<Levels>): void => logger.audit('paid');
    const written: string[] = [];
    write({ logger: { audit: (line: string) => written.push(line) } } as never);
    assert.deepEqual(written, ['paid']);
  });
});
