import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { freePort } from '@redline/services';
import { type Finished, Workbench } from './run-cli.ts';

export const appFile = (name: string): string =>
  fileURLToPath(new URL(`../stairs/apps/${name}`, import.meta.url));

/** `redline stairs` on an app of the tests, with the least measuring there is. */
export async function stairs(
  context: TestContext,
  app: string,
  path: string,
  { args = [], env = {} }: { args?: string[]; env?: NodeJS.ProcessEnv } = {},
): Promise<Finished & { bench: Workbench }> {
  const bench = new Workbench(context);
  const url = `http://127.0.0.1:${await freePort()}${path}`;
  const command = ['--', process.execPath, appFile(app)];
  const finished = await bench.run(
    ['stairs', url, '--seconds', '0.3', '--warmup', '0.2', ...args, ...command],
    env,
  );
  return { ...finished, bench };
}
