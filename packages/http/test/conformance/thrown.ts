import type { IncomingMessage } from 'node:http';
import { gate, serve, type Behaviours } from './engine.ts';
import { connect, Line } from './wire.ts';

const get = 'GET /path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** What listeners throw, and what they reject with. */
export const thrown: Behaviours = {
  'an error in a listener is uncaught': async (http) => {
    const caught = gate<unknown>();
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => caught.open(error.message));
    await using serving = await serve(http, {}, (request, response) => {
      if (request.url === '/bad') throw new Error('thrown');
      response.end('fine');
    });
    const bad = new Line(connect(serving.port));
    bad.socket.write('GET /bad HTTP/1.1\r\nHost: a\r\n\r\n');
    const message = await caught.opened;
    for (const listener of others) process.on('uncaughtException', listener as () => void);
    const after = await serving.talk(get);
    bad.socket.destroy();
    return [message, after];
  },
  'a request is not complete yet when the process hears of what its listener threw': async (
    http,
  ) => {
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    try {
      const seen: unknown[] = [];
      const heads = ['GET / HTTP/1.1\r\n', 'POST / HTTP/1.1\r\nContent-Length: 2\r\n'];
      for (const head of heads) {
        const caught = gate();
        const given: IncomingMessage[] = [];
        process.once('uncaughtException', (error) => {
          seen.push([error.message, given.map(({ complete }) => complete)]);
          caught.open();
        });
        await using serving = await serve(http, {}, (request) => {
          given.push(request);
          throw new Error('thrown');
        });
        const line = new Line(connect(serving.port));
        line.socket.write(`${head}Host: a\r\n\r\n${head.startsWith('POST') ? 'ab' : ''}`);
        await caught.opened;
        line.socket.destroy();
      }
      return seen;
    } finally {
      for (const listener of others) process.on('uncaughtException', listener as () => void);
    }
  },
  captureRejections: async (http) => {
    const seen = gate<unknown>();
    const { EventEmitter } = await import('node:events');
    EventEmitter.captureRejections = true;
    try {
      await using serving = await serve(http, {}, async (_, response) => {
        response.on('error', () => {});
        response.on('close', () => seen.open(response.statusCode));
        throw new Error('rejected');
      });
      return [await serving.talk(get), await seen.opened];
    } finally {
      EventEmitter.captureRejections = false;
    }
  },
  'captureRejections, for a listener of a message': async (http) => {
    const { EventEmitter } = await import('node:events');
    EventEmitter.captureRejections = true;
    try {
      const log: string[] = [];
      for (const part of ['request', 'response'] as const) {
        const seen = gate();
        await using serving = await serve(http, {}, (request, response) => {
          const message = { request, response }[part];
          message.on('error', (error) => log.push(`${part}: ${error.message}`));
          request.socket.on('error', (error) => log.push(`${part}, socket: ${error.message}`));
          request.socket.on('close', () => seen.open());
          message.on('asked', async () => {
            throw new Error('rejected');
          });
          message.emit('asked');
        });
        log.push((await serving.talk(get)).received);
        await seen.opened;
      }
      return log;
    } finally {
      EventEmitter.captureRejections = false;
    }
  },
};
