import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that the system assigns itself, to outgoing connections and to port 0, and below those that redline
 * chooses for measured servers. One of those could be taken before our server binds it, or while it is down for a restart.
 */
const lowest = 10_000;
const count = 10_000;
/** Parallel processes start at random positions: otherwise two that search at once would get the same port. */
let next = randomInt(count);

/** Moves to another position: the process that took the last port continues with the ones after it. */
export function lookElsewhere(): void {
  next = randomInt(count);
}

/** Returns a port without a listener now, which no other process is about to take. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < count; tries++) {
    const port = lowest + next;
    next = (next + 1) % count;
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${lowest} to ${lowest + count - 1} is free.`);
}

/** Checks every address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
