// A worker as PM2's cluster mode makes it: stdout is written to by a method that PM2 has put there, and the descriptor is
// read by nobody.
import cluster from 'node:cluster';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LoggerModule, NestLogger } from '@redline/nest';

@Module({ imports: [LoggerModule.forRoot()] })
class AppModule {}

if (cluster.isPrimary) {
  cluster.setupPrimary({ silent: true });
  const worker = cluster.fork({ pm_id: '0' });
  worker.on('message', (line) => process.send?.(line));
  worker.once('exit', () => process.disconnect());
} else {
  process.stdout.write = ((text: string, ...rest: unknown[]) => {
    process.send?.(text);
    (rest.find((each) => typeof each === 'function') as (() => void) | undefined)?.();
    return true;
  }) as typeof process.stdout.write;
  const app = await NestFactory.createApplicationContext(AppModule, { bufferLogs: true });
  const logger = app.get(NestLogger);
  app.useLogger(logger);
  logger.log('reached PM2', 'Worker');
  await app.close();
  process.disconnect();
}
