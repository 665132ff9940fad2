import type { ServerResponse } from 'node:http';
import { ask, describeError, type HttpModule } from './engine.ts';

export type Doing = (response: ServerResponse, note: (fact: unknown) => void) => unknown;

/** What goes out for what a listener does; on a connection that would be kept, and on one that would not. */
export async function sent(http: HttpModule, doing: Doing, method = 'GET'): Promise<unknown> {
  const notes: unknown[] = [];
  const answers: unknown[] = [];
  for (const version of ['1.1', '1.0']) {
    answers.push(
      await ask(
        http,
        async (_, response) => {
          response.on('error', (error) => notes.push(['error', describeError(error)]));
          await doing(response, (fact) => notes.push(fact));
        },
        [`${method} / HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`],
      ),
    );
  }
  return { answers, notes };
}
