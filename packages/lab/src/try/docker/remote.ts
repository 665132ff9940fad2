import { runClient } from './client.ts';
import type { ContainerEngine } from './engine.ts';

/** A machine that runs the containers instead of this one. */
export interface Remote {
  host: string;
  /** The setting that chose it. */
  by: string;
}

/** Variables that name the address of an engine. */
const variables: Readonly<Record<string, string>> = {
  docker: 'DOCKER_HOST',
  podman: 'CONTAINER_HOST',
};

/** Returns undefined for an engine of this machine, and for one that does not say where it is. */
export async function remoteOf(
  { command }: ContainerEngine,
  signal: AbortSignal,
): Promise<Remote | undefined> {
  const variable = variables[command[0]!];
  if (variable === undefined) return undefined;
  const address = process.env[variable] ?? '';
  if (address !== '') return remoteAt(address, variable);
  if (command[0] !== 'docker') return undefined;
  const words = ['context', 'inspect', '--format', '{{.Name}} {{.Endpoints.docker.Host}}'];
  const asked = await runClient([...command, ...words], { signal });
  const [name, endpoint] = asked?.code === 0 ? asked.stdout.trim().split(' ') : [];
  return endpoint === undefined ? undefined : remoteAt(endpoint, `the context ${name}`);
}

function remoteAt(address: string, by: string): Remote | undefined {
  const host = remoteHost(address);
  return host === undefined ? undefined : { host, by };
}

/** Returns the host of an engine's address, without its user; undefined for a socket or a loopback address. */
export function remoteHost(address: string): string | undefined {
  const { hostname = '' } = URL.parse(address) ?? {};
  return /^(localhost|127\..*|\[::1\]|\.)?$/.test(hostname) ? undefined : hostname;
}
