import { gate, serve, type Behaviours, type Options } from './engine.ts';
import { leave } from './wire.ts';

/** Younger than Node 22. */
const options = { optimizeEmptyRequests: true } as Options;

/** `optimizeEmptyRequests`: which requests are streams that end, and which are over from the start. */
const heads: Record<string, string> = {
  'neither length nor encoding': 'POST / HTTP/1.1\r\nHost: a\r\n\r\n',
  'Content-Length: 0': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
  'an empty chunked body':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
};

export const emptyRequests: Behaviours = Object.fromEntries(
  Object.entries(heads).map(([name, head]) => [
    `optimizeEmptyRequests, ${name}`,
    async (http) => {
      const log: string[] = [];
      const answered = gate();
      await using serving = await serve(http, options, (request, response) => {
        log.push(`readableEnded ${request.readableEnded}, complete ${request.complete}`);
        request.on('end', () => log.push('end'));
        request.on('close', () => log.push('close'));
        request.resume();
        // Behind whatever the request still has to say.
        setImmediate(() => response.end('answered', () => answered.open()));
      });
      const { received } = await serving.talk(head, /answered/, () => answered.opened, leave);
      return [received, log];
    },
  ]),
);
