import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { moment, record, settled, type Behaviours, type ChildProcessModule } from './trace.ts';

const piped = ['pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Pipes above stderr, which both sides may write. */
export const extraPipes: Behaviours = {
  'ended at once': (cp) => ended(cp, (pipe) => pipe.end()),
  'ended with data': (cp) => ended(cp, (pipe) => pipe.end('data')),
  'ended later': (cp) => ended(cp, (pipe, child) => void child.once('spawn', () => pipe.end())),
  'ended later with data': (cp) =>
    ended(cp, (pipe, child) => void child.once('spawn', () => pipe.end('data'))),
  'written and ended': (cp) =>
    ended(cp, (pipe, child) => {
      pipe.write('one ');
      pipe.write('two');
      child.stdout!.once('data', () => pipe.end());
    }),
  'destroyed at once': (cp) => ended(cp, (pipe) => void pipe.destroy()),
  'destroyed later': (cp) =>
    ended(cp, (pipe, child) => void child.once('spawn', () => pipe.destroy())),
  'destroyed with an error': (cp) => ended(cp, (pipe) => void pipe.destroy(new Error('broken'))),
  'written and destroyed': (cp) =>
    ended(cp, (pipe, child) => {
      pipe.write('data');
      child.stdout!.once('data', () => pipe.destroy(new Error('broken')));
    }),
  'a conversation': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'while read x <&3; do echo re-$x >&4; done'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const [, , , writable, readable] = child.stdio as unknown as Duplex[];
    const lines: string[] = [];
    readable!.on('data', (chunk) => {
      lines.push(String(chunk));
      if (lines.length < 3) writable!.write(`m${lines.length}\n`);
      else writable!.end();
    });
    child.once('spawn', () => writable!.write('m0\n'));
    await settled(child);
    return lines;
  },
  'an answer on the same pipe': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'read x <&3; echo got-$x >&3'], { stdio: [...piped] });
    const pipe = child.stdio[3] as Duplex;
    let reply = '';
    pipe.on('data', (chunk) => (reply += chunk));
    child.once('spawn', () => pipe.write('hello\n'));
    await settled(child);
    return reply;
  },
  'stdout ended, which only reads': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'sleep 0.1; echo x']);
    (child.stdout as unknown as Duplex).end();
    return record(child);
  },
  'streams that are destroyed close in that order': async (cp) => {
    const order: string[] = [];
    for (const first of ['stdin', 'stdout'] as const) {
      const child = cp.spawn('cat');
      const names =
        first === 'stdin' ? (['stdin', 'stdout'] as const) : (['stdout', 'stdin'] as const);
      for (const name of names) child[name].on('close', () => order.push(name));
      setImmediate(() => order.push('immediate'));
      for (const name of names) child[name].destroy();
      await settled(child);
    }
    return order;
  },
  'unref of an output that is read': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo a; sleep 0.2; echo b']);
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      (child.stdout as Socket).unref();
    });
    await once(child, 'close');
    await moment();
    return text;
  },
  'three hundred of them': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'ls /proc/self/fd | wc -l'], {
      stdio: Array.from({ length: 300 }, (_, fd) => (fd === 1 ? 'pipe' : 'ignore')),
    });
    let text = '';
    child.stdout!.on('data', (chunk) => (text += chunk));
    await settled(child);
    return [child.stdio.length, Number(text) > 0];
  },
  'the last of three hundred': async (cp) => {
    const child = cp.spawn(process.execPath, ['-e', 'require("fs").writeSync(299, "far")'], {
      stdio: Array.from({ length: 300 }, (_, fd) => (fd === 299 ? 'pipe' : 'ignore')),
    });
    let text = '';
    child.stdio[299 as 3]!.on('data', (chunk: Buffer) => (text += chunk));
    await settled(child);
    return text;
  },
};

async function ended(
  cp: ChildProcessModule,
  act: (pipe: Duplex, child: ChildProcess) => void,
): Promise<unknown> {
  const child = cp.spawn('sh', ['-c', 'cat <&3; exit 3'], { stdio: [...piped] });
  const events: unknown[] = [];
  const pipe = child.stdio[3] as Duplex;
  pipe.on('error', (error) => events.push(error.message));
  pipe.on('close', () => events.push('pipe closed'));
  let text = '';
  child.stdout!.on('data', (chunk) => (text += chunk));
  child.stderr!.resume();
  child.on('exit', (code) => events.push(['exit', code]));
  act(pipe, child);
  await settled(child);
  return [text, events.map(String).sort()];
}
