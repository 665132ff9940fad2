// Apps that a daemon of a user runs, and what is seen of them: processes, environments, ports, and what the daemon itself says.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@redline/services';

const run = promisify(execFile);
const readyMs = 60_000;

export const app = `require('node:http').createServer(function listener(request, response) {
  response.end('ok');
}).listen(process.env.PORT || 3000);
`;

/** Runs server.js, and restarts it with the environment that a launcher sends. */
const daemon = `const { spawn } = require('node:child_process');
let app = spawn(process.execPath, ['server.js'], { stdio: 'ignore' });
require('node:net').createServer((socket) => {
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  socket.on('end', () => {
    if (text === '') return socket.end();
    app.kill('SIGKILL');
    app = spawn(process.execPath, ['server.js'], { stdio: 'ignore', env: JSON.parse(text) });
    socket.end('done');
  });
}).listen('daemon.sock');
`;
const launcher = `const socket = require('node:net').connect('daemon.sock', () => socket.end(JSON.stringify(process.env)));
socket.on('data', () => {});
`;

export interface Manager {
  name: string;
  /** The words after node that start it; it stays, or leaves a daemon. */
  start: (bin: string) => string[];
  stays?: true;
  mode?: 'fork' | 'cluster';
  /** Scripts of package.json that would hand an app to it; the first sends its environment without the name of a launcher. */
  scripts: readonly string[];
}

const ofPm2 = ['pm2-api', 'pm2-start', 'pm2-restart', 'pm2-runtime'];
const pm2Start = (bin: string): string[] => [join(bin, 'pm2'), 'start', 'ecosystem.config.js'];

export const managers: readonly Manager[] = [
  { name: 'pm2-fork', start: pm2Start, mode: 'fork', scripts: ofPm2 },
  { name: 'pm2-cluster', start: pm2Start, mode: 'cluster', scripts: ofPm2 },
  {
    name: 'pm2-runtime',
    start: (bin) => [join(bin, 'pm2-runtime'), 'ecosystem.config.js'],
    stays: true,
    mode: 'fork',
    scripts: ofPm2,
  },
  {
    name: 'forever',
    start: (bin) => [join(bin, 'forever'), 'start', 'server.js'],
    scripts: ['forever-api', 'forever-start', 'forever-restart'],
  },
  { name: 'hand-made', start: () => ['daemon.cjs'], stays: true, scripts: ['daemon'] },
];

/** A user with a home, a project in a repository, and an app that a daemon runs. */
export class Live implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly temporary: string;
  readonly #manager: Manager;
  readonly #bin: string;
  #port = 0;

  private constructor(manager: Manager, bin: string) {
    this.#manager = manager;
    this.#bin = bin;
    this.home = mkdtempSync(join(tmpdir(), 'redline-live-'));
    this.folder = join(this.home, 'project');
    this.temporary = join(this.home, 'tmp');
    mkdirSync(this.temporary);
  }

  static async start(manager: Manager, bin: string): Promise<Live> {
    const live = new Live(manager, bin);
    try {
      await live.#write();
      await live.#begin();
    } catch (error) {
      await live[Symbol.asyncDispose]();
      throw error;
    }
    return live;
  }

  /** Of the shell in which the daemon was started, and redline is typed. */
  get env(): NodeJS.ProcessEnv {
    return {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      XDG_STATE_HOME: join(this.home, '.local/state'),
      TMPDIR: this.temporary,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
    };
  }

  /** Whatever may not change. */
  async state(): Promise<unknown> {
    const own = this.processes();
    const response = await fetch(`http://127.0.0.1:${this.#port}/`).then((each) => each.text());
    return {
      response,
      processes: own.map(({ pid, started, environment }) => ({ pid, started, environment })),
      ports: listening(own.map(({ pid }) => pid)),
      ...(this.#manager.mode !== undefined && { listed: await this.#listed() }),
    };
  }

  /** All that were started with the home of this user. */
  processes(): Process[] {
    return processesWith(`HOME=${this.home}\0`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let again = 0; again < 50 && this.processes().length > 0; again++) {
      for (const { pid } of this.processes()) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It ended meanwhile.
        }
      }
      await sleep(50);
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async #write(): Promise<void> {
    const modules = dirname(this.#bin);
    const { mode = 'fork' } = this.#manager;
    const ecosystem = { name: 'web', script: './server.js', exec_mode: mode, instances: 2 };
    if (mode === 'fork') ecosystem.instances = 1;
    const pm2 = JSON.stringify(join(modules, 'pm2'));
    const forever = JSON.stringify(join(modules, 'forever'));
    const files: Record<string, string> = {
      'server.js': app,
      'daemon.cjs': daemon,
      'launcher.cjs': launcher,
      'ecosystem.config.js': `module.exports = ${JSON.stringify({ apps: [ecosystem] })};`,
      'pm2-api.js': `const pm2 = require(${pm2}); pm2.connect(() => pm2.start('ecosystem.config.js', () => process.exit()));`,
      'forever-api.js': `const forever = require(${forever}); forever.restartAll(false).on('restartAll', () => process.exit()).on('error', () => process.exit(1));`,
      'package.json': JSON.stringify({
        scripts: {
          'pm2-api': 'node pm2-api.js',
          'pm2-start': `${this.#bin}/pm2 start ecosystem.config.js`,
          'pm2-restart': `${this.#bin}/pm2 restart all`,
          'pm2-runtime': `${this.#bin}/pm2-runtime ecosystem.config.js`,
          'forever-api': 'node forever-api.js',
          'forever-start': `${this.#bin}/forever start server.js`,
          'forever-restart': `${this.#bin}/forever restartall`,
          daemon: 'node launcher.cjs',
        },
      }),
      '.gitignore': 'daemon.sock\nredline-out\n',
    };
    mkdirSync(this.folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
    for (const args of [
      ['init'],
      ['add', '.'],
      ['commit', '-m', 'one'],
      ['commit', '--allow-empty', '-m', 'two'],
    ]) {
      await run('git', [...who, ...args], { cwd: this.folder, env: this.env });
    }
  }

  async #begin(): Promise<void> {
    this.#port = await freePort();
    const env = { ...this.env, PORT: String(this.#port) };
    const child = spawn(process.execPath, this.#manager.start(this.#bin), {
      cwd: this.folder,
      env,
      stdio: 'ignore',
      detached: true,
    });
    child.unref();
    const deadline = Date.now() + readyMs;
    const wanted = this.#manager.mode === 'cluster' ? 2 : 1;
    // The starter itself has ended, and all instances listen.
    const isUp = (): boolean =>
      (this.#manager.stays === true || child.exitCode !== null) &&
      this.processes().filter(({ command }) => /server\.js/.test(command)).length >= wanted;
    while (!isUp() || !(await responds(this.#port))) {
      if (Date.now() > deadline) throw new Error(`${this.#manager.name} did not start its app`);
      await sleep(50);
    }
    // PM2 writes what it knows of a process a moment later.
    await sleep(500);
  }

  async #listed(): Promise<unknown> {
    const { stdout } = await run(process.execPath, [join(this.#bin, 'pm2'), 'jlist'], {
      cwd: this.folder,
      env: this.env,
      maxBuffer: 1e8,
    });
    const listed = JSON.parse(stdout.slice(stdout.indexOf('[{'))) as {
      pid: number;
      pm2_env: { status: string; restart_time: number; env: object };
    }[];
    return listed.map(({ pid, pm2_env: { status, restart_time: restarts, env } }) => ({
      pid,
      status,
      restarts,
      env: hash(JSON.stringify(env)),
    }));
  }
}

export interface Process {
  pid: number;
  command: string;
  /** In ticks since the machine started. */
  started: string;
  environment: string;
}

/** Processes with a text in their environment, this one apart. */
export function processesWith(text: string): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
      if (!environment.includes(text) || command === '') return [];
      return [{ pid, command, started, environment: hash(environment) }];
    } catch {
      return [];
    }
  });
}

/** Ports at which processes listen. */
function listening(pids: readonly number[]): number[] {
  const inodes = new Set(
    pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).flatMap((each) => {
        try {
          return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${each}`))?.[1] ?? [];
        } catch {
          return [];
        }
      }),
    ),
  );
  const lines = ['tcp', 'tcp6']
    .map((name) => `/proc/net/${name}`)
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'latin1').split('\n').slice(1));
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && inodes.has(fields[9]!))
    .map((fields) => parseInt(fields[1]!.split(':')[1]!, 16))
    .toSorted((a, b) => a - b);
}

async function responds(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    (response) => response.ok,
    () => false,
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
