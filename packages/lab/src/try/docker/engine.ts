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
