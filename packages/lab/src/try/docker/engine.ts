import { LabError } from '../../errors.ts';
import { lastLine, runClient } from './client.ts';

/** A program that runs Linux containers. All of them understand the command line of `docker`. */
export interface ContainerEngine {
  /** The command that its own words follow. */
  command: readonly string[];
  /** Name by which a container reaches the machine. */
  host: string;
  /** The way to start it, where it is installed but does not run. */
  start: string;
}

const engines: readonly ContainerEngine[] = [
  {
    command: ['docker'],
    host: 'host.docker.internal',
    start: 'start Docker (Docker Desktop, colima start or systemctl start docker)',
  },
  {
    command: ['podman'],
    host: 'host.containers.internal',
    start: 'start it with podman machine start',
  },
  {
    command: ['nerdctl'],
    host: 'host.docker.internal',
    start: 'start containerd, or Rancher Desktop',
  },
  {
    command: ['lima', 'nerdctl'],
    host: 'host.lima.internal',
    start: 'start it with limactl start',
  },
];

/**
 * Finds the first engine that is installed and runs.
 * @throws {LabError} ERR_REDLINE_DOCKER
 */
export async function findEngine(signal: AbortSignal): Promise<ContainerEngine> {
  let reason: string | undefined;
  for (const engine of engines) {
    const [name] = engine.command;
    const asked = await runClient([...engine.command, 'ps', '--quiet'], { signal });
    if (asked === undefined) continue;
    if (asked.code === 0) return engine;
    reason ??= `${name} is installed, but cannot be used: ${lastLine(asked)}. If it does not run, ${engine.start}, then try again.`;
  }
  throw new LabError(
    'ERR_REDLINE_DOCKER',
    reason ??
      '--docker needs a program that runs Linux containers, and none of docker, podman, nerdctl and lima is on PATH: install one of them, then try again.',
  );
}

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
