import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below those the system gives out by itself, to outgoing connections and to programs that request any, and those that
 * redline chooses for the servers it measures. One of them may be taken before our server binds it, or while it is down to
 * be started again.
 */
const lowest = 10_000;
const count = 10_000;
/** Processes that run side by side begin anywhere: two that look at once would be given the same port. */
let next = randomInt(count);

/** The next ports come from elsewhere: whoever took the last one goes on with those behind it. */
export function lookElsewhere(): void {
  next = randomInt(count);
}

/** A port nobody listens on at the moment of asking, and nobody else is about to. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < count; tries++) {
    const port = lowest + next;
    next = (next + 1) % count;
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${lowest} to ${lowest + count - 1} is free.`);
}

/** On every address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
