import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RedlineConfig } from '../../src/config/types.ts';
import type { BenchResult } from '../../src/bench/result.ts';

export const command = fileURLToPath(new URL('../../bin/redline.mjs', import.meta.url));
const serverFile = fileURLToPath(new URL('./fixtures/server.mjs', import.meta.url));

/** A folder of its own for one test, and the command run in it. */
export class Workbench {
  readonly folder: string;
  readonly #pidFile: string;

  constructor(context: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'redline-test-'));
    this.#pidFile = join(this.folder, 'pids');
    writeFileSync(this.#pidFile, '');
    context.after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  variant(name: string, env: Record<string, string> = {}): RedlineConfig['variants'][number] {
    return {
      name,
      command: [process.execPath, serverFile],
      env: { PIDS: this.#pidFile, ...env },
    };
  }

  /**
   * The smallest run there is, unless the config says otherwise. Without pinning nothing watches the server's core, and
   * nothing is measured again because another test uses it.
   */
  writeConfig(config: Partial<RedlineConfig> & Pick<RedlineConfig, 'variants'>): void {
    const whole = {
      name: 'test',
      load: { connections: 8, turns: false, pin: false },
      precision: { restarts: 1, blocks: 1, sliceMs: 200, warmupMs: 0, latencyMs: 100 },
      ...config,
    };
    this.write('redline.config.mjs', `export default ${JSON.stringify(whole)};`);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  result(name: string): BenchResult {
    return JSON.parse(this.read(name));
  }

  start(
    args: string[],
    env: NodeJS.ProcessEnv = {},
    stdin: 'ignore' | 'pipe' = 'ignore',
  ): ChildProcess {
    return spawn(process.execPath, [command, ...args], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
  }

  /** With the command that starts `app.cjs`. */
  runApp(args: readonly string[]): Promise<Finished> {
    return this.run([...args, '--', process.execPath, 'app.cjs']);
  }

  async run(args: string[], env?: NodeJS.ProcessEnv): Promise<Finished> {
    return finished(this.start(args, env));
  }

  /** Process ids of all servers that were ever started here. */
  serverPids(): number[] {
    return readFileSync(this.#pidFile, 'utf8').split('\n').filter(Boolean).map(Number);
  }

  /** Servers that live, and whatever else was started in the folder, as loads are. */
  survivors(): number[] {
    const servers = this.serverPids().filter((pid) => isAlive(pid));
    return [...new Set([...servers, ...processesIn(realpathSync(this.folder))])];
  }
}

function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false;
      }
    });
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
