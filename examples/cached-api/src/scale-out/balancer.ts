import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startHaproxy } from '@redline/services';

export interface Balancer {
  readonly name: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** HAProxy in front of the replicas; where it is absent, a round robin of our own. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const { server, missing } = await startHaproxy(ports);
  if (server !== undefined) return { name: 'HAProxy', port: server.port, stop: server.stop };
  process.stderr.write(`${missing} A round robin of this program stands in for it.\n`);
  return startRoundRobin(ports);
}

/** Each request goes to the next replica. */
export async function startRoundRobin(ports: readonly number[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer((asked, response) => {
    const { method, url, headers } = asked;
    const port = ports[(turn += 1) % ports.length]!;
    const passed = request(
      { host: '127.0.0.1', port, method, path: url, headers, agent },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    passed.once('error', () => response.destroy());
    asked.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name: 'a round robin',
    port: (server.address() as AddressInfo).port,
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}
