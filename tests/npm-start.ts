import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '..');

/**
 * The command behind `npm start`, without the set-up that `npm test` has just done. With two blocks, a rung counts although nothing
 * was answered in one of its slices: beside other tests that happens.
 */
export function npmStart(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [command, ...rest] = (scripts.start as string).split(' ');
  const program = join(root, 'node_modules/.bin', command!);
  return run(process.execPath, [program, ...rest, '--restarts=1', '--blocks=2', ...args], env);
}

export interface Finished {
  code: number | null;
  output: string;
}

export async function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code, output };
}
