// Nest on Fastify, on the server of @redline/http.
import 'reflect-metadata';
import compress from '@fastify/compress';
import { RedlineFactory } from '@redline/nest';
import { ArenaModule } from './arena.module.js';

const app = await RedlineFactory.create(ArenaModule, { logger: ['error', 'warn'] });
await app.register(compress);
// Also accepts bodies without a content type.
app
  .getHttpAdapter()
  .getInstance()
  .addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
await app.listen(Number(process.env['PORT'] ?? 8080), process.env['HOST'] ?? '0.0.0.0');

export const close = (): Promise<void> => app.close();
