import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '@redline/services';
import { command, type Finished, finished, Workbench } from './run-cli.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** One installation in a container. */
interface Install {
  words: string[];
  cwd: string;
  NODE_ENV?: string;
  CI?: string;
  REGISTRY?: string;
}

/** A bench on a machine with nothing but a stand-in for an engine of containers on PATH. */
export class ContainerBench extends Workbench {
  readonly state: string;
  /** More of the environment of redline. */
  extra: NodeJS.ProcessEnv = {};

  constructor(context: TestContext, engines: readonly string[] = ['docker']) {
    super(context);
    this.state = mkdtempSync(join(tmpdir(), 'redline-stand-in-'));
    context.after(() => rmSync(this.state, { recursive: true, force: true }));
    for (const each of ['host', 'image', 'containers']) mkdirSync(join(this.state, each));
    for (const engine of engines) this.program(`host/${engine}`, `docker.mjs`, engine);
    symlinkSync(findOnPath('tar')!, join(this.state, 'host/tar'));
    symlinkSync(process.execPath, join(this.state, 'image/node'));
    this.program('image/npm', 'npm.mjs', '"$(basename "$0")"');
  }

  program(name: string, script: string, first: string): void {
    this.script(name, `exec '${process.execPath}' '${fixture(script)}' ${first} "$@"`);
  }

  /** Writes a program for the machine (`host/…`) or for the containers (`image/…`). */
  script(name: string, text: string): void {
    rmSync(join(this.state, name), { force: true });
    writeFileSync(join(this.state, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  file(name: string, text: string): void {
    mkdirSync(join(this.folder, name, '..'), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  /** @param fails What the stand-in fails at: docker.mjs says how. */
  env(fails: Record<string, [message: string, code: number]> = {}): NodeJS.ProcessEnv {
    return {
      PATH: join(this.state, 'host'),
      STAND_IN: this.state,
      STAND_IN_FAILS: JSON.stringify(fails),
      ...this.extra,
    };
  }

  /** In a process group of its own, as a shell starts a command. */
  startTry(args: readonly string[], env: NodeJS.ProcessEnv = this.env()): ChildProcess {
    return spawn(process.execPath, [command, 'try', '--docker', ...args], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  }

  async try(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished> {
    const { stderr, ...end } = await finished(this.startTry(args, env));
    // Lines that are broken are one sentence.
    return { ...end, stderr: stderr.replaceAll('\n  ', ' ') };
  }

  /** The commands of the engine so far. */
  calls(): string[][] {
    return this.#lines('calls') as string[][];
  }

  installs(): Install[] {
    return this.#lines('installs') as Install[];
  }

  containers(): string[] {
    return readdirSync(join(this.state, 'containers'));
  }

  /** Containers that are there, once every process that belongs to one, or to redline, has ended. */
  async left(): Promise<string[]> {
    const containers = this.containers();
    while (this.#processes().length > 0) await sleep(50);
    return containers;
  }

  #processes(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => {
        try {
          const text = readFileSync(`/proc/${pid}/environ`, 'latin1');
          return pid > 0 && pid !== process.pid && text.includes(`STAND_IN=${this.state}\0`);
        } catch {
          return false;
        }
      });
  }

  #lines(name: string): unknown[] {
    const file = join(this.state, name);
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown);
  }
}
