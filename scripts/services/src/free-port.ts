import { createServer } from 'node:net';

/**
 * Below those the system gives out by itself, to outgoing connections and to programs that request any. One of them may be taken
 * before our server binds it, or while it is down to be started again.
 */
const lowest = 10_240;
const highest = 32_767;

/** A loopback port nobody listens on at the moment of asking. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${lowest} to ${highest} is free.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
