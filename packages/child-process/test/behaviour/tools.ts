import { once } from 'node:events';
import { tracingChannel } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import {
  describeError,
  moment,
  outcome,
  record,
  settled,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

const missing = 'redline-no-such-program';
const script = "process.send('hello'); process.on('message', () => process.disconnect())";

/** What debuggers, tracers and printers see of a child. */
export const tools: Behaviours = {
  'what can be listed of a child': async (cp) => {
    const child = cp.spawn('true');
    const copy = { ...child };
    const facts = [
      Object.keys(child),
      Object.entries(copy).map(([key, value]) => [key, typeof value]),
      copy.stdout === child.stdout,
      copy.pid === child.pid,
      JSON.stringify(Object.assign({}, child).spawnargs),
    ];
    await settled(child);
    return facts;
  },
  'a child with a channel, listed': async (cp) => {
    const child = cp.spawn(process.execPath, ['-e', script], {
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    const keys = Object.keys(child)
      .filter((key) => key !== 'emit')
      .sort();
    child.on('message', () => child.send('end'));
    await settled(child);
    return keys;
  },
  'a child that is printed': async (cp) => {
    const child = cp.spawn('true');
    const text = inspect(child, { depth: 0 }).replace(/\d{2,}/g, 'N');
    await settled(child);
    return text;
  },
  'a child in other things that are printed': async (cp) => {
    const child = cp.spawn('true');
    const text = [inspect({ child }, { depth: 0 }), inspect([[child]], { depth: 1 })];
    await settled(child);
    return text.map((each) => each.replace(/\d{2,}/g, 'N'));
  },
  'active resources': async (cp) => {
    await moment();
    const before = resources();
    const child = cp.spawn('sleep', ['0.4']);
    const during = minus(resources(), before);
    child.stdin.end();
    await moment(100);
    const later = minus(resources(), before);
    await settled(child);
    await moment();
    return [during, later, minus(resources(), before)];
  },
  'active resources of a child without pipes': async (cp) => {
    await moment();
    const before = resources();
    const child = cp.spawn('sleep', ['0.2'], { stdio: 'ignore' });
    const during = minus(resources(), before);
    child.unref();
    const after = minus(resources(), before);
    child.ref();
    await settled(child);
    return [during, after];
  },
  'active handles': async (cp) => {
    await moment();
    const before = activeHandles();
    const during = () => minus(names(activeHandles()), names(before));
    const child = cp.spawn('sleep', ['0.4']);
    const seen = [activeHandles().includes(child), during()];
    const streams = child.stdio.map((stream) => activeHandles().includes(stream!));
    child.stdin.end();
    child.stdout.destroy();
    await moment(100);
    const later = [activeHandles().includes(child), during()];
    child.unref();
    const unreferenced = activeHandles().includes(child);
    child.ref();
    await settled(child);
    await moment();
    return [seen, streams, later, unreferenced, activeHandles().includes(child), during()];
  },
  'the handles of an execFile and of a missing program': async (cp) => {
    await moment();
    const before = names(activeHandles());
    const done = new Promise((resolve) => {
      cp.execFile('sh', ['-c', 'sleep 0.1; echo out'], (...results) => resolve(results));
    });
    const during = minus(names(activeHandles()), before);
    const result = await done;
    await moment();
    const child = cp.spawn(missing);
    const failing = activeHandles().includes(child);
    const [error] = await once(child, 'error');
    await moment();
    return [during, result, failing, describeError(error), minus(names(activeHandles()), before)];
  },
  'the handle of a child': async (cp) => {
    const child = cp.spawn('sleep', ['0.2']);
    const { _handle: handle } = child as unknown as { _handle: Handle };
    const pid = child.pid;
    const facts = [handle.constructor.name, handle.pid === pid, handle.hasRef(), handle.kill(0)];
    handle.unref();
    const unreferenced = handle.hasRef();
    handle.ref();
    await settled(child);
    const failed = cp.spawn(missing).on('error', () => {});
    const { _handle: empty } = failed as unknown as { _handle: Handle };
    const none = empty.pid;
    await settled(failed);
    return [facts, unreferenced, handle.pid === pid, none];
  },
  'ChildProcess.prototype.spawn that is wrapped': async (cp) => {
    const { results, calls } = await wrapped(cp, async () => [
      await outcome(cp.spawn('sh', ['-c', 'echo out; echo err >&2; exit 3'])),
      await outcome(cp.spawn('cat', { stdio: ['ignore', 'pipe', 'inherit'], windowsHide: true })),
      await outcome(cp.spawn('echo $0 given', { shell: true, env: { A: 'b' }, cwd: '/' })),
      await collected(cp, 'execFile', 'sh', ['-c', 'echo out; echo err >&2; exit 3']),
      await collected(cp, 'execFile', 'yes', [], { maxBuffer: 1000 }),
      await collected(cp, 'execFile', 'sleep', ['10'], { timeout: 50 }),
      await collected(cp, 'exec', 'echo $0'),
      await record(cp.spawn(missing)),
      await outcome(cp.spawn('true', { detached: true })),
    ]);
    return [results, calls];
  },
  'ChildProcess.prototype.spawn that is wrapped, and input': async (cp) => {
    const { results } = await wrapped(cp, async () => {
      const child = cp.spawn('cat');
      child.stdin.end('back and forth');
      return outcome(child);
    });
    return results;
  },
  'ChildProcess.prototype.spawn that is wrapped, and a channel': async (cp) => {
    const { results, calls } = await wrapped(cp, async () => {
      const child = cp.spawn(process.execPath, ['-e', script], {
        stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      });
      const messages: unknown[] = [];
      child.on('message', (message) => {
        messages.push(message);
        child.send('end');
      });
      return [await outcome(child), messages];
    });
    return [results, calls];
  },
  'ChildProcess.prototype.spawn that changes what is started': async (cp) => {
    const { results } = await wrapped(
      cp,
      () => outcome(cp.spawn('sh', ['-c', 'echo $ADDED'])),
      (options) => {
        (options['envPairs'] as string[]).push('ADDED=by the wrapper');
      },
    );
    return results;
  },
  'ChildProcess.prototype.spawn that throws': async (cp) => {
    try {
      await wrapped(
        cp,
        () => cp.spawn('true'),
        () => {
          throw new Error('not allowed');
        },
      );
      return 'started';
    } catch (error) {
      return describeError(error);
    }
  },
  'the Sync functions of a process whose binding is wrapped': (cp) => {
    const { binding } = process as unknown as { binding(name: string): { spawn: Start } };
    const holder = binding.call(process, 'spawn_sync');
    const { spawn } = holder;
    const calls: unknown[] = [];
    holder.spawn = function (options) {
      calls.push([Object.keys(options).sort(), options['file'], options['args']]);
      (options['envPairs'] as string[]).push('ADDED=by a coverage tool');
      return spawn.call(this, options);
    };
    try {
      const outputs = [
        cp.spawnSync('sh', ['-c', 'echo $ADDED'], { timeout: 60_000, killSignal: 'SIGKILL' })
          .stdout,
        cp.execSync('echo $ADDED'),
        cp.execFileSync('sh', ['-c', 'echo $ADDED']),
      ];
      return [outputs.map(String), calls];
    } finally {
      holder.spawn = spawn;
    }
  },
  'what tracers are told': async (cp) => {
    const channel = tracingChannel('child_process.spawn');
    const seen: unknown[] = [];
    const subscribers = {
      start: ({ options }: { options: object }) =>
        void seen.push(['start', Object.keys(options).sort(), plainOptions(options)]),
      end: (message: object) => void seen.push(['end', Object.keys(message)]),
      error: (message: { error: Error }) =>
        void seen.push(['error', Object.keys(message).sort(), describeError(message.error)]),
      asyncStart() {},
      asyncEnd() {},
    };
    channel.subscribe(subscribers as never);
    try {
      await settled(cp.spawn('true', ['x'], { env: { A: '1' }, timeout: 60_000 }));
      await settled(cp.spawn(missing, { env: {} }).on('error', () => {}));
      await settled(cp.execFile('true', { env: {}, cwd: '/' }));
      await settled(cp.exec('true', { env: {} }));
      await once(
        cp.spawn('true', { env: {}, stdio: [process.stdin, 'ignore', 'ignore'] }),
        'close',
      );
      try {
        cp.spawn('true', ['x'.repeat(200_000)], { env: {} });
      } catch {
        seen.push('thrown');
      }
    } finally {
      channel.unsubscribe(subscribers as never);
    }
    return JSON.parse(JSON.stringify(seen).replaceAll('x'.repeat(200_000), 'many'));
  },
};

interface Handle {
  readonly pid: number | undefined;
  hasRef(): boolean;
  ref(): void;
  unref(): void;
  kill(signal: number): number;
}

type Start = (this: unknown, options: Record<string, unknown>) => unknown;

async function wrapped<T>(
  cp: ChildProcessModule,
  run: () => T | Promise<T>,
  before: (options: Record<string, unknown>) => void = () => {},
): Promise<{ results: T; calls: unknown[] }> {
  const prototype = cp.ChildProcess.prototype as unknown as { spawn: Start };
  const { spawn } = prototype;
  const calls: unknown[] = [];
  prototype.spawn = function (options) {
    calls.push([Object.keys(options).sort(), plainOptions(options)]);
    before(options);
    return spawn.call(this, options);
  };
  try {
    return { results: await run(), calls };
  } finally {
    prototype.spawn = spawn;
  }
}

/** Options as text, without the environment of this process. */
function plainOptions(options: object): unknown {
  const { envPairs, ...rest } = options as Record<string, unknown>;
  const short = Array.isArray(envPairs) && envPairs.length < 5 ? envPairs : typeof envPairs;
  return JSON.parse(JSON.stringify({ ...rest, envPairs: short, stdio: typeof rest['stdio'] }));
}

function collected(cp: ChildProcessModule, name: 'exec' | 'execFile', ...args: unknown[]) {
  return new Promise((resolve) => {
    const start = cp[name] as (...all: unknown[]) => unknown;
    start(...args, (error: Error | null, stdout: string, stderr: string) =>
      resolve([describeError(error), stdout, stderr]),
    );
  });
}

function resources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /Pipe|Process/.test(name));
}

function activeHandles(): unknown[] {
  return (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
}

function names(handles: unknown[]): string[] {
  return handles.map((handle) => (handle as object).constructor.name);
}

function minus(all: string[], some: string[]): string[] {
  const rest = all.toSorted();
  for (const each of some) {
    const index = rest.indexOf(each);
    if (index >= 0) rest.splice(index, 1);
  }
  return rest;
}
