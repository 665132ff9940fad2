import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../errors.ts';
import { listeningPorts, requireNode } from './process-facts.ts';

export interface OpenInspector {
  url: string;
  /** True if it was open before; it then stays open. */
  wasOpen: boolean;
}

const opensWithinMs = 5_000;

interface Opening {
  signal: AbortSignal;
  /** The port of the app itself, which gets no request for this. */
  except: number;
}

/**
 * Finds the inspector of a running process among its ports, or opens it with SIGUSR1: another program may listen at Node's usual
 * port.
 * @throws {LabError} ERR_REDLINE_OPTION when it is not Node, ERR_REDLINE_PROFILE when no inspector opens
 */
export async function openInspector(
  pid: number,
  { signal, except }: Opening,
): Promise<OpenInspector> {
  requireNode(pid);
  const before = new Set(listeningPorts(pid));
  const open = await inspectorAmong([...before].filter((port) => port !== except));
  if (open !== undefined) return { url: open, wasOpen: true };
  signal.throwIfAborted();
  process.kill(pid, 'SIGUSR1');
  const deadline = Date.now() + opensWithinMs;
  // An interrupted run waits too: it has to close the inspector it opened.
  while (Date.now() < deadline) {
    const url = await inspectorAmong(listeningPorts(pid).filter((port) => !before.has(port)));
    if (url !== undefined) return { url, wasOpen: false };
    await sleep(50);
  }
  throw new LabError(
    'ERR_REDLINE_PROFILE',
    `Process ${pid} did not open its inspector within ${opensWithinMs / 1_000} s: it is busy, listens to SIGUSR1 itself, or port 9229 is taken. Start it with --inspect=127.0.0.1:0.`,
  );
}

async function inspectorAmong(ports: readonly number[]): Promise<string | undefined> {
  for (const port of ports) {
    const url = await inspectorAt(port);
    if (url !== undefined) return url;
  }
  return undefined;
}

/** Returns undefined for any other server at this port. */
async function inspectorAt(port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`, {
      signal: AbortSignal.timeout(1_000),
    });
    const [target] = (await response.json()) as { webSocketDebuggerUrl?: string }[];
    return target?.webSocketDebuggerUrl;
  } catch {
    return undefined;
  }
}
