// A process for every request: Node, ours, and other runtimes. The servers are those of examples/process-per-request.
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { engine } from '@redline/child-process';
import { engine as httpEngine } from '@redline/http';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { obtainContenders, programs, type Contender } from '../contenders/obtain.ts';

type Variant = RedlineConfig['variants'][number];
/** A contender and its requirements besides Node. */
interface Entry {
  name: string;
  note: string;
  command: string[];
  env?: Record<string, string>;
  needs?: (Contender | 'addon' | 'http-addon' | 'gm')[];
  /** Reason why it is never measured. */
  skipped?: string;
}

const example = join(import.meta.dirname, '../../examples/process-per-request/src');
const contenders = join(import.meta.dirname, '../contenders');
const residentMib = 1_536;
/** With --only, contenders of other variants are neither built nor fetched. */
const onlyAt = process.argv.indexOf('--only');
const chosen = onlyAt < 0 ? undefined : new Set(process.argv[onlyAt + 1]?.split(','));

const runtimes = {
  node: { command: ['node'], needs: [] as Contender[] },
  bun: { command: [programs.bun], needs: ['bun' as const] },
  deno: { command: [programs.deno, 'run', '--allow-all'], needs: ['deno' as const] },
};

const modules = {
  node: { note: 'node:child_process', module: 'node:child_process', needs: [] as Contender[] },
  'posix-spawn': {
    note: 'posix_spawn on the main thread',
    module: join(contenders, 'posix-spawn/spawn.js'),
    needs: ['posix-spawn' as const],
  },
  redline: {
    note: '@redline/child-process',
    module: '@redline/child-process',
    needs: ['addon' as const],
  },
};

const main: Entry[] = [
  on('node', 'node', 'node:child_process', 'baseline.js'),
  {
    ...on('node', 'redline', '@redline/child-process', 'redline.js'),
    needs: ['addon'],
  },
  {
    ...on('node', 'posix-spawn', 'as libuv main: posix_spawn on the main thread', ''),
    command: ['node', join(contenders, 'spawn-posix.js')],
    needs: ['posix-spawn'],
  },
  { name: 'go', note: 'net/http, os/exec', command: [programs.go], needs: ['go'] },
  { name: 'rust', note: 'hyper, tokio', command: [programs.rust], needs: ['rust'] },
  on('bun', 'bun', 'node:child_process of Bun', 'baseline.js'),
  on('deno', 'deno', 'node:child_process of Deno', 'baseline.js'),
];

/** Needs more than one changed import: the others keep their HTTP server. */
const together: Entry = {
  ...on('node', 'redline-http', '@redline/child-process behind @redline/http', 'redline-http.js'),
  needs: ['addon', 'http-addon'],
};

const bunWorkers = { env: { RUNTIME: programs.bun }, needs: ['bun' as const] };
/** The article's other servers, on Node. */
const detours: Entry[] = [
  on('node', 'node-cluster', 'a server per core', 'cluster.js'),
  on('node', 'node-threads', '8 worker threads', 'worker-threads/server.js'),
  on('node', 'node-processes', '8 processes, JSON', 'child-process/server.js'),
  on('node', 'node-send', '8 processes, process.send advanced', 'send-logs/server.js'),
  on('node', 'node-sockets', '8 processes, abstract sockets', 'comm-channel/server.js'),
  {
    ...on(
      'node',
      'node-sockets-string',
      'the same, gathered as a string',
      'comm-channel/server.js',
    ),
    env: { BUFFER: 'string' },
  },
  {
    ...on('node', 'node-bun-processes', '8 Bun processes, JSON', 'child-process/server.js'),
    ...bunWorkers,
  },
  {
    ...on(
      'node',
      'node-bun-sockets',
      '8 Bun processes, abstract sockets',
      'comm-channel/server.js',
    ),
    ...bunWorkers,
  },
  on('node', 'redline-pool', 'createPool, 8 processes', 'redline-pool.js'),
];

/** The same on other runtimes, as far as the article has them. */
const elsewhere: Entry[] = (['bun', 'deno'] as const).flatMap((runtime) => [
  {
    ...on(runtime, `${runtime}-cluster`, 'a server per core', 'cluster.js'),
    ...(runtime === 'deno' ? { skipped: 'it leaves a connection unanswered now and then' } : {}),
  },
  on(runtime, `${runtime}-threads`, '8 worker threads', 'worker-threads/server.js'),
  on(runtime, `${runtime}-processes`, '8 processes, JSON', 'child-process/server.js'),
  on(runtime, `${runtime}-sockets`, '8 processes, abstract sockets', 'comm-channel/server.js'),
  {
    ...on(runtime, `${runtime}-sockets-string`, 'gathered as a string', 'comm-channel/server.js'),
    env: { BUFFER: 'string' },
  },
]);

const everybody = [...main, together, ...detours, ...elsewhere];
const pools = detours.filter(({ name }) => name === 'redline-pool');

const blockingFile = 'spawn-blocking.js';
const blocking: Entry[] = [
  ...(['node', 'bun', 'deno'] as const).map((runtime) => ({
    ...on(runtime, runtime, 'node:child_process', ''),
    command: [...runtimes[runtime].command, join(contenders, blockingFile)],
  })),
  ...(['posix-spawn', 'redline'] as const).flatMap((name) =>
    withAndWithoutMemory(name, blockingFile),
  ),
];

const waiting: Entry[] = (['node', 'posix-spawn', 'redline'] as const).flatMap((name) =>
  withAndWithoutMemory(name, 'spawn-sync.js'),
);

/** Programs that real servers start for each request. */
const real: Entry[] = (['node', 'posix-spawn', 'redline'] as const).map((name) => ({
  name,
  note: modules[name].note,
  command: ['node', join(contenders, 'spawn-real.js')],
  env: { SPAWN_MODULE: modules[name].module },
  needs: modules[name].needs,
}));
const generated = join(example, '../generated');
const picture = join(generated, 'picture.jpg');
const repository = join(generated, 'repository');

const balancing: Entry[] = ['random', 'round-robin', 'least-busy'].map((policy) => ({
  name: `pool-${policy}`,
  note: `createPool, balance ${policy}`,
  command: ['node', join(contenders, 'spawn-balance.js')],
  env: { BALANCE: policy },
}));

/** The comparisons of the README, with fewer contenders. */
const quickVariants = new Set([
  ...['node', 'redline', 'posix-spawn', 'go', 'rust'].map((name) => `${name}/echo`),
  ...['node', 'redline'].map((name) => `${name}/resident`),
]);

const groups: Record<string, { entries: Entry[]; env?: Record<string, string>; probe?: string }> = {
  echo: { entries: everybody, env: { WORKLOAD: 'echo' } },
  cat: { entries: everybody, env: { WORKLOAD: 'cat' } },
  resident: {
    entries: [...main, ...pools],
    env: { WORKLOAD: 'echo', RESIDENT_MIB: String(residentMib) },
  },
  blocking: { entries: blocking, probe: '/probe' },
  sync: { entries: waiting, probe: '/probe' },
  git: { entries: real, env: { TASK: 'git', REPOSITORY: repository }, probe: '/probe' },
  // Otherwise GraphicsMagick would start a thread per core in each child.
  thumbnail: {
    entries: real.map((entry) => ({ ...entry, needs: [...(entry.needs ?? []), 'gm' as const] })),
    env: { TASK: 'thumbnail', PICTURE: picture, OMP_NUM_THREADS: '1' },
    probe: '/probe',
  },
  'balance-even': { entries: balancing },
  'balance-uneven': { entries: balancing },
};
const entries = Object.entries(groups).flatMap(([group, { entries: own, env, probe }]) =>
  own.map((entry) => ({ entry, variant: toVariant(entry, group, env, probe) })),
);

export default defineConfig({
  name: 'spawn',
  title: 'A process for every request',
  // Unpinned, children run on any free core, as they normally would; pinned, they would all share the server's.
  load: { connections: 30, pin: false, turns: false },
  // A process per request means a thousand requests a second: V8 needs seconds to see enough of them to compile its code.
  precision: { restarts: 4, blocks: 3, sliceMs: 300, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 4 },
  groups: {
    echo: { title: 'echo hi' },
    cat: { title: 'cat of 163 KB' },
    resident: {
      title: 'echo hi, 1.5 GiB resident in the server',
      // Node serves a dozen requests a second here: with more connections, a slice would end before the first response.
      load: { connections: 8 },
      precision: { blocks: 1, sliceMs: 1_500 },
    },
    blocking: { title: '8 × echo hi, seen from the main thread', load: { connections: 4 } },
    sync: {
      title: 'spawnSync, seen from the caller',
      load: { connections: 1 },
      precision: { blocks: 1, sliceMs: 1_000 },
    },
    git: { title: '`git log -5`', load: { connections: 8 } },
    thumbnail: {
      title: 'A thumbnail by `gm`',
      load: { connections: 4 },
      precision: { sliceMs: 1_000 },
    },
    'balance-even': { title: 'Balancing, even work' },
    'balance-uneven': {
      title: 'Balancing, every eighth request prints 1.3 MB',
      requests: [...Array.from({ length: 7 }, () => '/'), '/heavy'],
    },
  },
  variants: entries.map(({ variant }) => variant),

  async setup() {
    const needed = new Set(
      entries
        .filter(({ variant }) => chosen?.has(variant.name) ?? true)
        .flatMap(({ entry }) => entry.needs ?? []),
    );
    const missing: Record<string, string> = await obtainContenders(
      (['posix-spawn', 'go', 'rust', 'bun', 'deno'] as const).filter((name) => needed.has(name)),
    );
    const served = { addon: engine(), 'http-addon': httpEngine() };
    for (const [name, one] of Object.entries(served)) {
      if (one.name !== 'native') missing[name] = one.reason;
    }
    if (chosen === undefined || [...chosen].some((name) => name.endsWith('/git'))) makeRepository();
    if (needed.has('gm')) {
      const reason = makePicture();
      if (reason !== undefined) missing['gm'] = reason;
    }
    const { textFile } = await import(join(example, 'workload.js'));
    const skip = entries.flatMap(({ entry, variant }) => {
      const lacking = entry.needs?.find((need) => missing[need] !== undefined);
      const reason = entry.skipped ?? (lacking === undefined ? undefined : missing[lacking]);
      return reason === undefined ? [] : [[variant.name, reason] as const];
    });
    return { env: { TEXT_FILE: textFile() }, skip: Object.fromEntries(skip) };
  },
});

/** Creates ten commits, so that the figures do not depend on the local clone. */
function makeRepository(): void {
  if (existsSync(repository)) return;
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  git('init', '--quiet');
  for (let n = 1; n <= 10; n++) git('commit', '--quiet', '--allow-empty', '-m', `change ${n}`);
}

/** Creates the picture; returns the reason of a failure. */
function makePicture(): string | undefined {
  if (existsSync(picture)) return undefined;
  mkdirSync(generated, { recursive: true });
  try {
    execFileSync('gm', ['convert', '-size', '800x600', 'plasma:', picture], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'GraphicsMagick (gm) is not installed: apt-get install graphicsmagick';
  }
}

function on(runtime: keyof typeof runtimes, name: string, note: string, file: string): Entry {
  const { command, needs } = runtimes[runtime];
  const entry = { name, note, command: [...command, join(example, file)], needs: [...needs] };
  return file.startsWith('comm-channel/') && process.platform !== 'linux'
    ? { ...entry, skipped: 'abstract sockets are Linux' }
    : entry;
}

/** Returns a contender of ours or Node's in both memory sizes, for groups in which the server's memory matters. */
function withAndWithoutMemory(name: keyof typeof modules, file: string): Entry[] {
  const { note, module, needs } = modules[name];
  return [
    { name, note, RESIDENT_MIB: '0' },
    { name: `${name}-resident`, note: '1.5 GiB resident', RESIDENT_MIB: String(residentMib) },
  ].map((entry) => ({
    name: entry.name,
    note: entry.note,
    command: ['node', join(contenders, file)],
    env: { SPAWN_MODULE: module, RESIDENT_MIB: entry.RESIDENT_MIB },
    needs,
  }));
}

function toVariant(
  { name, note, command, env }: Entry,
  group: string,
  groupEnv: Record<string, string> = {},
  probe: string | undefined,
): Variant {
  return {
    name: `${name}/${group}`,
    note,
    group,
    command,
    env: { ...groupEnv, ...env },
    ...(quickVariants.has(`${name}/${group}`) ? {} : { quick: false as const }),
    ...(probe === undefined ? {} : { probe }),
  };
}
