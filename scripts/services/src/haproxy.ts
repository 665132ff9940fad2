import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon, type Daemon } from './daemon.ts';
import { findOnPath } from './find-on-path.ts';
import { missing, type Started } from './started.ts';

/** Starts HAProxy in front of HTTP servers on loopback: each request goes to the next one that responds to `GET /health`. */
export async function startHaproxy(ports: readonly number[]): Promise<Started<Daemon>> {
  const program = findOnPath('haproxy');
  if (program === undefined) return missing('haproxy', 'haproxy');
  const daemon = await startDaemon({
    name: 'haproxy',
    prepare: ({ port, folder }) => writeFile(join(folder, 'haproxy.cfg'), configOf(port, ports)),
    // -db: in the foreground.
    command: ({ folder }) => [program, '-db', '-f', join(folder, 'haproxy.cfg')],
  });
  return { server: daemon };
}

function configOf(port: number, ports: readonly number[]): string {
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend loopback
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /health
${ports.map((each, index) => `  server replica-${index + 1} 127.0.0.1:${each} check inter 1s fall 5\n`).join('')}`;
}
