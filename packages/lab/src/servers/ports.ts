import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { acceptsConnection, findEndpoint } from '../load/endpoint.ts';

/**
 * Chooses a distinct port for each variant: its fixed one, or a free one. All are held until the last is found: otherwise two
 * servers that start side by side could get the same port, and the loser's requests would go to the winner.
 * @throws {LabError} ERR_REDLINE_PORT_TAKEN
 */
export async function choosePorts(variants: readonly PlannedVariant[]): Promise<number[]> {
  for (const { name, port } of variants) {
    if (port !== undefined && (await findEndpoint(port)) !== undefined) {
      throw new LabError(
        'ERR_REDLINE_PORT_TAKEN',
        `Port ${port} of "${name}" is in use by another process; end it, or omit "port" to get a free one.`,
      );
    }
  }
  const holders = await Promise.all(variants.map(({ port }) => port ?? hold()));
  const ports = holders.map((holder) =>
    typeof holder === 'number' ? holder : (holder.address() as AddressInfo).port,
  );
  await Promise.all(holders.map((holder) => typeof holder !== 'number' && release(holder)));
  return ports;
}

/** Below the range the kernel uses for outgoing connections, which could take the port before the server listens. */
const firstPort = 20_000;
const endOfPorts = 32_000;
const attempts = 100;

async function hold(): Promise<Server> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(firstPort, endOfPorts);
    const holder = await listen(port);
    if (holder === undefined) continue;
    // A port that is free at 127.0.0.1 may be taken for a server that listens on all addresses.
    if (!(await acceptsConnection({ host: '::1', port }))) return holder;
    await release(holder);
  }
  return (await listen(0))!;
}

async function listen(port: number): Promise<Server | undefined> {
  const holder = createServer().listen(port, '127.0.0.1');
  try {
    await once(holder, 'listening');
    return holder;
  } catch (error) {
    if (port === 0) throw error;
    return undefined;
  }
}

async function release(holder: Server): Promise<void> {
  holder.close();
  await once(holder, 'close');
}
