import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { serve, type Behaviours } from './engine.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

async function withChild<Value>(use: (child: ChildProcess) => Promise<Value>): Promise<Value> {
  const child = fork(new URL('answering-child.mjs', import.meta.url), { execArgv: [] });
  try {
    await once(child, 'message');
    return await use(child);
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

/** A request's socket that goes to another process. */
export const sentSockets: Behaviours = {
  'a child answers on the connection that it was sent': (http) =>
    withChild(async (child) => {
      await using serving = await serve(http, {}, (request, response) => {
        if (request.url === '/') child.send({}, request.socket);
        else response.end('from the parent');
      });
      return [
        await serving.talk(get),
        await serving.talk('GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      ];
    }),
  'the second request of a connection is sent, the first was answered': (http) =>
    withChild(async (child) => {
      await using serving = await serve(http, {}, (request, response) => {
        if (request.url === '/') child.send({}, request.socket);
        else response.end('from the parent');
      });
      return await serving.talk('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n', /from the parent/, get);
    }),
};
