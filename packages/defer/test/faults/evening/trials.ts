// The kinds of trials of an evening, in their order.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyServer } from '../kill-trials.ts';
import type { Level } from '@redline/defer';
import { diskFaults, runDiskFault } from './disk-faults.ts';
import { runPower } from './power.ts';
import { Round, type RoundSettings, type Target, type Verdict } from './round.ts';
import { replayWindowMs, servers } from './servers.ts';

export interface Trial {
  readonly kind: string;
  /** The level, if the outcome depends on it. */
  readonly level?: Level;
  /** Shows that the trial can lose jobs: what it loses does not count. */
  readonly isControl?: boolean;
  run(settings: Omit<RoundSettings, 'target'>): Promise<Outcome | { readonly missing: string }>;
}

export interface Outcome extends Verdict {
  /** Calls to the disk that failed, power failures, or kills and pauses of the server. */
  readonly faults: number;
}

export const trials: readonly Trial[] = [
  ...Object.entries(diskFaults).map(([name, { sync, delay }]): Trial => ({
    kind: `disk: ${name}`,
    // Level process hardly ever calls fdatasync.
    ...((sync ?? delay) !== undefined && { level: 'disk' }),
    run: (settings) =>
      onParent(settings, async (round, server) => {
        const faults = await runDiskFault(round, name, server, await compiled('disk-faults'));
        if (faults === 0) throw new Error('The library interfered with no call.');
        return faults;
      }),
  })),
  {
    kind: 'power failure',
    level: 'disk',
    run: (settings) =>
      onParent(settings, async (round, server) => runPower(round, server, await compiled('power'))),
  },
  {
    kind: 'power failure, control',
    level: 'process',
    isControl: true,
    run: (settings) =>
      onParent(settings, async (round, server) => runPower(round, server, await compiled('power'))),
  },
  {
    kind: 'kill -9 and SIGSTOP of the app, an outage',
    run: (settings) => onParent(settings, kills),
  },
  ...Object.keys(servers).map((name): Trial => ({
    kind: `server: ${name}`,
    run: (settings) => killServer(name, settings),
  })),
];

/** The parent is the sink. */
async function onParent(
  settings: Omit<RoundSettings, 'target'>,
  work: (round: Round, server: KeyServer) => Promise<number>,
): Promise<Outcome> {
  const server = new KeyServer(new Map<string, number>());
  const url = await server.listen();
  const target: Target = { sink: { url }, received: async () => server.received };
  try {
    const round = new Round({ ...settings, target });
    const faults = await work(round, server);
    return { ...(await round.judge()), faults };
  } finally {
    server.close();
  }
}

async function kills(round: Round, server: KeyServer): Promise<number> {
  let faults = 0;
  for (; !round.isOver; faults++) {
    server.isUp = faults % 3 !== 2;
    await round.live(async ({ child }) => {
      await round.pause(100, 700);
      if (faults % 2 === 0) return;
      child.kill('SIGSTOP');
      await round.pause(100, 500);
      child.kill('SIGCONT');
      await round.pause(0, 100);
    });
  }
  server.isUp = true;
  return faults;
}

async function killServer(
  name: string,
  settings: Omit<RoundSettings, 'target'>,
): Promise<Outcome | { missing: string }> {
  const target = await servers[name]!();
  if ('missing' in target) return target;
  const { server } = target;
  let faults = 0;
  try {
    const round = new Round({ ...settings, target, replayWindowMs });
    while (!round.isOver) {
      await round.live(async () => {
        // RabbitMQ that is killed within seconds of its first start has forgotten what it had confirmed.
        if (faults === 0 && name === 'RabbitMQ') await round.pause(8_000, 9_000);
        await round.pause(500, 1_500);
        await server.kill();
        await round.pause(200, 1_000);
        await server.restart();
        await round.pause(300, 1_000);
        server.pause();
        await round.pause(300, 1_000);
        server.resume();
        await round.pause(100, 500);
      });
      faults += 2;
      // The app is killed while its server is away.
      await round.live(async () => {
        await round.pause(100, 400);
        await server.kill();
        await round.pause(100, 400);
      });
      await server.restart();
      faults++;
    }
    return { ...(await round.judge()), faults };
  } finally {
    await target.stop();
  }
}

/** The library of this name, built by the machine's C compiler. */
async function compiled(name: string): Promise<string> {
  const source = join(import.meta.dirname, 'preload', `${name}.c`);
  const hash = createHash('sha256')
    .update(await readFile(source))
    .digest('hex')
    .slice(0, 12);
  const folder = join(import.meta.dirname, '../../../../../redline-out/defer-evening');
  const library = join(folder, `${name}-${hash}.so`);
  if (existsSync(library)) return library;
  mkdirSync(folder, { recursive: true });
  const args = ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl', '-lpthread'];
  const { status, error, stderr } = spawnSync('cc', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cc cannot build ${source}: ${error?.message ?? stderr}`);
  return library;
}
