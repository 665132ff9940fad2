import type { IncomingMessage } from 'node:http';
import { gate, moment, serve, type Behaviours } from './engine.ts';
import { connect, leave } from './wire.ts';

/** Younger than the oldest Node that is supported. */
type Signalled = IncomingMessage & { signal?: AbortSignal };

const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** `request.signal`: aborted when the client leaves before it is answered, and at no other time. */
export const signals: Behaviours = {
  'answered requests are not aborted when the connection ends': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request: Signalled, response) => {
      request.signal?.addEventListener('abort', () => log.push(`abort of ${request.url}`));
      request.socket.once('close', () => closed.open());
      response.end(`listeners ${request.socket.listenerCount('close')}`);
    });
    const { received } = await serving.talk(get('/1'), /listeners/, get('/2'), /listeners/, leave);
    await closed.opened;
    await moment();
    return [received.match(/listeners/g)?.length, log];
  },
  'a connection gathers no listeners of requests that are answered': async (http) => {
    const counts: number[] = [];
    await using serving = await serve(http, {}, (request: Signalled, response) => {
      void request.signal;
      counts.push(request.socket.listenerCount('close'));
      response.end('answered');
    });
    const steps = Array.from({ length: 5 }, () => [get('/'), /answered/]).flat();
    await serving.talk(...steps, leave);
    return counts.map((count) => count - counts[0]!);
  },
  'a request whose client leaves first is aborted': async (http) => {
    const aborted = gate<string>();
    await using serving = await serve(http, {}, (request: Signalled) => {
      if (request.signal === undefined) aborted.open('none');
      request.signal?.addEventListener('abort', () => aborted.open(String(request.signal?.reason)));
      client.destroy();
    });
    const client = connect(serving.port);
    client.write(get('/'));
    return await aborted.opened;
  },
  'the second of a pipeline is aborted, the first is not': async (http) => {
    const log: string[] = [];
    const aborted = gate();
    await using serving = await serve(http, {}, (request: Signalled, response) => {
      request.signal?.addEventListener('abort', () => {
        log.push(`abort of ${request.url}`);
        aborted.open();
      });
      if (request.signal === undefined) aborted.open();
      if (request.url === '/1') response.end('answered');
    });
    const client = connect(serving.port);
    client.once('data', () => client.destroy());
    client.write(get('/1') + get('/2'));
    await aborted.opened;
    await moment();
    return log;
  },
  'a signal that is asked for after the answer is not aborted': async (http) => {
    const log: unknown[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request: Signalled, response) => {
      request.socket.once('close', () => closed.open());
      response.end('answered');
      response.on('close', () => {
        request.signal?.addEventListener('abort', () => log.push('abort'));
        log.push(request.signal?.aborted);
      });
    });
    await serving.talk(get('/'), /answered/, leave);
    await closed.opened;
    await moment();
    return log;
  },
};
