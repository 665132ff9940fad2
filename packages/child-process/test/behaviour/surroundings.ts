import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { promisify } from 'node:util';
import { settled, type Behaviours } from './trace.ts';

const storage = new AsyncLocalStorage<string>();

export const surroundings: Behaviours = {
  'the class': async (cp) => {
    const child = cp.spawn('true');
    const facts = [
      child instanceof cp.ChildProcess,
      child instanceof EventEmitter,
      child.constructor.name,
      Object.prototype.toString.call(child),
      typeof child.ref,
      typeof child.unref,
      typeof child.kill,
    ];
    await settled(child);
    return facts;
  },
  'the names and lengths of the functions': (cp) =>
    (['spawn', 'exec', 'execFile', 'fork', 'spawnSync', 'execSync', 'execFileSync'] as const).map(
      (name) => [cp[name].name, typeof cp[name]],
    ),
  'the synchronous functions': (cp) => [
    cp.execSync('echo x', { encoding: 'utf8' }),
    cp.execFileSync('echo', ['y']).toString(),
    cp.spawnSync('sh', ['-c', 'exit 3']).status,
  ],
  'properties can be set': async (cp) => {
    const child = cp.spawn('true');
    child.stdout = null as never;
    const fake = [1];
    (child as { stdio: unknown }).stdio = fake;
    const facts = [child.stdout, child.stdio];
    child.stderr.resume();
    await once(child, 'exit');
    return facts;
  },
  'async context': async (cp) => {
    const seen: Record<string, unknown> = {};
    await storage.run('request', async () => {
      const child = cp.spawn('echo', ['x']);
      const note = (name: string) => () => (seen[name] = storage.getStore());
      child.on('spawn', note('spawn')).on('exit', note('exit')).on('close', note('close'));
      child.stdout.on('data', note('data')).on('end', note('end'));
      await settled(child);
    });
    await storage.run('callback', () => {
      return new Promise<void>((resolve) => {
        cp.exec('true', () => {
          seen['exec'] = storage.getStore();
          resolve();
        });
      });
    });
    await storage.run('failure', async () => {
      const child = cp.spawn('redline-no-such-program');
      child.on('error', () => (seen['error'] = storage.getStore()));
      await settled(child);
    });
    return seen;
  },
  'the diagnostics channel': async (cp) => {
    const seen: unknown[] = [];
    const listen = (message: unknown) => {
      const { process: child } = message as { process: unknown };
      seen.push(child instanceof cp.ChildProcess);
    };
    channel('child_process').subscribe(listen);
    await promisify(cp.exec)('true');
    await settled(cp.spawn('true'));
    channel('child_process').unsubscribe(listen);
    return seen;
  },
  'the tracing channel': async (cp) => {
    const seen: unknown[] = [];
    const note = (name: string) => (message: unknown) => {
      const { process: child, error } = message as {
        process: { spawnfile: string };
        error?: Error;
      };
      seen.push([name, child.spawnfile, error?.message]);
    };
    const traced = tracingChannel('child_process.spawn');
    const listeners = {
      start: note('start'),
      end: note('end'),
      asyncStart: note('asyncStart'),
      asyncEnd: note('asyncEnd'),
      error: note('error'),
    };
    traced.subscribe(listeners as never);
    await settled(cp.spawn('true'));
    try {
      cp.spawn('true', { cwd: '/etc/passwd' });
    } catch {
      seen.push('thrown');
    }
    traced.unsubscribe(listeners as never);
    return seen;
  },
  'hundreds at once': async (cp) => {
    const children = Array.from({ length: 300 }, (_, index) =>
      cp.spawn('sh', ['-c', `echo ${index}; exit ${index % 7}`]),
    );
    return Promise.all(
      children.map(async (child) => {
        let out = '';
        child.stdout.on('data', (chunk) => (out += chunk));
        const [code] = await once(child, 'close');
        return [out, code];
      }),
    );
  },
};
