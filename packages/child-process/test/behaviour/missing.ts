import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { moment, outcome, record, settled, type Behaviours } from './trace.ts';

const missing = 'redline-no-such-program';

/** Programs that are not there, and programs that cannot run: input that is written to them goes nowhere. */
export const missingPrograms: Behaviours = {
  'input that is piped': async (cp) => {
    const child = cp.spawn(missing);
    const errors: unknown[] = [];
    child.on('error', (error) => errors.push((error as NodeJS.ErrnoException).code));
    child.stdin.on('error', (error) => errors.push(['stdin', error.message]));
    Readable.from(['a', 'b']).pipe(child.stdin);
    await settled(child);
    return [errors, child.stdin.destroyed];
  },
  'input of execFile': async (cp) => {
    const errors: unknown[] = [];
    const child = cp.execFile(missing, (error) => errors.push(error?.code));
    child.stdin!.on('error', (error) => errors.push(['stdin', error.message]));
    child.stdin!.end('data');
    await settled(child);
    return errors;
  },
  'each write': async (cp) => {
    const child = cp.spawn(missing);
    const log: unknown[] = [];
    child.on('error', () => log.push('error'));
    child.stdin.on('error', (error) => log.push(['stdin error', error.message]));
    child.stdin.on('close', () => log.push('stdin close'));
    child.stdin.write('x', (error) =>
      log.push(['written', (error as NodeJS.ErrnoException | null | undefined)?.code]),
    );
    child.stdin.end();
    await settled(child);
    return log;
  },
  'a pipeline': async (cp) => {
    const child = cp.spawn(missing);
    child.on('error', () => {});
    try {
      await pipeline(Readable.from(['a', 'b']), child.stdin);
      return 'done';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  },
  'an output of execFile, handed to another child': async (cp) => {
    const child = cp.execFile(missing, () => {});
    const handed = settled(child);
    const next = cp.spawn('cat', { stdio: [child.stdout, 'pipe', 'inherit'] as never });
    const read = await outcome(next);
    await handed;
    return [read, child.stdout!.readableEnded, child.stdout!.destroyed];
  },
  'on the next tick': async (cp) => {
    const order: string[] = [];
    const child = cp.spawn(missing);
    process.nextTick(() => order.push('tick'));
    setImmediate(() => order.push('immediate'));
    child.on('error', () => order.push('error'));
    child.on('close', () => order.push('close'));
    await settled(child);
    return [order.filter((event) => event !== 'close'), child.pid];
  },
  'nobody looks at the streams': async (cp) => {
    const child = cp.spawn(missing, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    const events: unknown[] = [];
    child.on('error', () => events.push('error'));
    child.on('close', (...args) => events.push(args));
    await settled(child);
    return events;
  },
  'output that is read': (cp) => record(cp.spawn(missing)),
  'output that is iterated': async (cp) => {
    const child = cp.spawn(missing);
    child.on('error', () => {});
    const chunks: unknown[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk);
    return chunks;
  },
  'collected output that is iterated': async (cp) => {
    const iterate = async (child: ChildProcess, turn: () => Promise<unknown>) => {
      await turn();
      try {
        for await (const _ of child.stdout!);
        return 'iterated';
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    };
    return [
      await iterate(
        cp.execFile(missing, () => {}),
        async () => {},
      ),
      await iterate(
        cp.execFile(missing, () => {}),
        () => new Promise(process.nextTick),
      ),
      await iterate(
        cp.exec('true', { cwd: '/redline-no-such-folder' }, () => {}),
        () => moment(),
      ),
    ];
  },
  'a folder that is missing': async (cp) => {
    const child = cp.spawn('cat', { cwd: '/redline-no-such-folder' });
    const errors: unknown[] = [];
    child.on('error', (error) => errors.push((error as NodeJS.ErrnoException).code));
    child.stdin.on('error', (error) => errors.push(['stdin', error.message]));
    child.stdin.end('data');
    await settled(child);
    return errors;
  },
  'a file that is no program': async (cp) => {
    const child = cp.spawn('/etc/passwd');
    const errors: unknown[] = [];
    child.on('error', (error) => errors.push((error as NodeJS.ErrnoException).code));
    child.stdin.on('error', (error) => errors.push(['stdin', error.message]));
    Readable.from(['a', 'b']).pipe(child.stdin);
    await settled(child);
    return errors;
  },
  'a channel to nobody': async (cp) => {
    const child = cp.spawn(missing, { stdio: ['pipe', 'pipe', 'pipe', 'ipc'] });
    const events: unknown[] = [];
    child.on('error', (error) => events.push((error as NodeJS.ErrnoException).code));
    child.on('disconnect', () => events.push('disconnect'));
    const closed = settled(child);
    await closed;
    return [events.sort(), child.connected];
  },
  'an output that was given to another child': async (cp) => {
    const child = cp.spawn(missing);
    child.on('error', () => {});
    return outcome(cp.spawn('cat', { stdio: [child.stdout, 'pipe', 'pipe'] }));
  },
  'an abort of one that is missing': async (cp) => {
    const controller = new AbortController();
    const child = cp.spawn(missing, { signal: controller.signal });
    const errors: unknown[] = [];
    child.on('error', (error) => errors.push((error as NodeJS.ErrnoException).code));
    controller.abort();
    await settled(child);
    await moment();
    return errors;
  },
  'an abort on the tick': async (cp) => {
    const controller = new AbortController();
    const child = cp.spawn(missing, { signal: controller.signal });
    const errors: unknown[] = [];
    child.on('error', (error) => {
      errors.push((error as NodeJS.ErrnoException).code);
      controller.abort();
    });
    await once(child, 'close').catch(() => {});
    await moment();
    return errors;
  },
};
