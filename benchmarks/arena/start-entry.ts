import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@redline/services';
import { ask } from './ask.ts';

export interface RunningEntry extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts an entry like its image, on two threads.
 *
 * @param programs the folder with main.js
 * @throws {Error} with its output, if it ends before it responds
 */
export async function startEntry(programs: string, dataset: string): Promise<RunningEntry> {
  const port = await freePort();
  const server = spawn(process.execPath, [join(programs, 'main.js')], {
    env: {
      ...process.env,
      PORT: String(port),
      HOST: '127.0.0.1',
      THREADS: '2',
      DATASET: dataset,
      NODE_ENV: 'production',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const collect = (text: Buffer): void => void (printed += text.toString());
  server.stdout.on('data', collect);
  server.stderr.on('data', collect);
  const ended = once(server, 'exit');
  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null;
  while (!hasEnded()) {
    const isUp = await ask(port, { path: '/pipeline' }).then(
      () => true,
      () => false,
    );
    if (isUp) {
      return {
        port,
        async [Symbol.asyncDispose]() {
          server.kill();
          await ended;
        },
      };
    }
    await delay(50);
  }
  throw new Error(`${programs} ended before it responded:\n${printed.trim()}`);
}
