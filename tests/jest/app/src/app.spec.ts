import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RedlineFactory } from '@redline/nest';
import { Logger } from '@redline/nest/nestjs-pino';

import { AppModule, Audit } from './app.module';

async function check(app: INestApplication): Promise<void> {
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/cached`;
  for (let time = 0; time < 2; time += 1) {
    const response = await fetch(url);
    expect(await response.json()).toEqual({ runs: 1 });
  }
  expect(app.get(Audit).seen).toEqual(['cached']);
  await app.close();
}

describe('The packages in Jest’s own runner', () => {
  it.each(['fastify', 'express'] as const)('RedlineFactory on %s', async (adapter) => {
    await check(await RedlineFactory.create(AppModule, { adapter, logger: false }));
  });

  it('a testing module', async () => {
    const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await check(testing.createNestApplication());
  });

  it('the names of nestjs-pino', () => {
    expect(typeof Logger).toBe('function');
  });
});
