import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Receiver } from '../receiver.ts';

export interface RunningApp {
  readonly process: ChildProcess;
  readonly url: string;
  /** The engine that serves it. */
  readonly engine: string;
  /** Closes its server, and waits for its end. Returns its exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const running = new Set<ChildProcess>();

/** Kills what a test that failed has left. */
export function killApps(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs an app below `@redline/telemetry/register`, which sends to a receiver. */
export async function runApp(
  framework: string,
  receiver: Receiver,
  { onEngine, env = {} }: { readonly onEngine: boolean; readonly env?: Record<string, string> },
): Promise<RunningApp> {
  const flags = onEngine ? ['--import', '@redline/http/register'] : [];
  const child = spawn(
    process.execPath,
    [
      ...flags,
      '--import',
      '@redline/telemetry/register',
      join(import.meta.dirname, 'app.mjs'),
      framework,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        OTEL_SERVICE_NAME: 'shop',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        ...env,
      },
    },
  );
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  running.add(child);
  child.once('exit', () => running.delete(child));
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'close')])) as [string];
  if (child.exitCode !== null) throw new Error(errors);
  const { port, engine } = JSON.parse(line) as { port: number; engine: string };
  return {
    process: child,
    engine,
    url: `http://127.0.0.1:${port}`,
    async stop(signal) {
      if (signal === undefined) child.send('stop');
      else child.kill(signal);
      const [code, by] = await exited;
      return code ?? by!;
    },
  };
}
