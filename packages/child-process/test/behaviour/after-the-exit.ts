import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hasBusyThread } from '../fuzz/quiet.ts';
import {
  block,
  blockUntilEnded,
  latch,
  moment,
  settled,
  stateOf,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

/** Pipes that outlive the child, because a process of its own holds them, and streams that are looked at late. */
export const afterTheExit: Behaviours = {
  'output first looked at long after the exit': async (cp) => {
    const { child, release } = held(cp, '(read line <&3; echo later) & exit 0');
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment();
    const late = text(child.stdout!);
    release();
    return [await late, await closed];
  },
  'output looked at and not read': async (cp) => {
    const { child, release } = held(cp, '(read line <&3) & exit 3');
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment();
    const facts = [child.stdout!.readable, child.stdout!.readableFlowing, child.stdio.length];
    release();
    return [facts, await closed];
  },
  'a listener in the listener of the exit, of an output that ended without a byte': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'exec >&-; sleep 0.1']);
    const events: unknown[] = [];
    child.on('exit', () => {
      events.push(child.stdout.destroyed, child.stdout.readable);
      child.stdout.on('end', () => events.push('end'));
    });
    await once(child, 'close');
    await moment(50);
    return events;
  },
  'outputs whose child has ended before the loop runs, in the listener of the exit': async (cp) => {
    const seen: unknown[] = [];
    for (const code of ['exit 0', 'echo out', 'echo err >&2', 'echo three >&3']) {
      const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];
      seen.push(await endedBeforeTheLoop(cp.spawn('sh', ['-c', code], { stdio })));
    }
    return seen;
  },
  'a listener in the listener of the exit, of collected output': async (cp) => {
    const child = cp.execFile('sh', ['-c', 'sleep 0.1; echo out']);
    const closed = new Promise((resolve) =>
      child.on('exit', () => {
        // Where exit and end were seen late, Node has closed it by now.
        if (child.stdout!.closed) resolve('closed');
        child.stdout!.on('close', () => resolve('closed'));
      }),
    );
    return await closed;
  },
  'collected output that is paused after the exit, while somebody else holds it': async (cp) => {
    const child = cp.execFile('sh', ['-c', 'echo out; (sleep 0.4; echo later >&2) & exit 0']);
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment(100);
    child.stdout!.pause();
    return await closed;
  },
  'a listener long after the exit': async (cp) => {
    const { child, release } = held(cp, '(read line <&3; echo later) & exit 0');
    const events: unknown[] = [];
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment();
    child.stdout!.on('data', (chunk) => events.push(String(chunk)));
    child.stdout!.on('end', () => events.push('end'));
    release();
    await closed;
    return events;
  },
  'output that was discarded, and whose end comes while the program is busy': async (cp) => {
    const seen: unknown[] = [];
    for (const use of [() => {}, (stdout: Socket) => void stdout.unref()]) {
      const script = '(exec 2>&-; read line <&3) & echo early; echo $! >&2';
      const { child, release } = held(cp, script);
      const [pid] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
      await moment();
      release();
      blockUntilGone(Number(pid));
      const stdout = child.stdout as Socket;
      use(stdout);
      const { bytesRead, readableDidRead } = stdout;
      await settled(child);
      seen.push([bytesRead, readableDidRead, stdout.bytesRead, stdout.readableEnded]);
    }
    return seen;
  },
  'output that comes while the program is busy, long after the exit, unreferenced then': async (
    cp,
  ) => {
    const script = '(exec 2>&-; read line <&3; echo later) & echo early; echo $! >&2';
    const { child, release } = held(cp, script);
    const events: unknown[] = [];
    for (const event of ['data', 'end', 'close', 'error']) {
      child.stdout!.on(event, (fact: unknown) => events.push(event, String(fact)));
    }
    const [pid] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    await moment();
    release();
    blockUntilGone(Number(pid));
    (child.stdout as Socket).unref();
    await settled(child);
    return [events, (child.stdout as Socket).bytesRead];
  },
  'collected output that comes while the program is busy, long after the exit, looked at then':
    async (cp) => {
      const { fd, release } = latch();
      const folder = mkdtempSync(join(tmpdir(), 'redline-after-'));
      const script = `(exec 2>&-; read line </proc/$PPID/fd/${fd}; echo later) & echo early; echo $! >pid`;
      let result: unknown;
      const child = cp.execFile('sh', ['-c', script], { cwd: folder }, (error, ...outputs) => {
        result = [error, ...outputs];
      });
      await once(child, 'exit');
      await moment();
      release();
      blockUntilGone(Number(readFileSync(join(folder, 'pid'), 'utf8')));
      rmSync(folder, { recursive: true });
      const events: unknown[] = [];
      for (const event of ['end', 'close', 'error']) {
        child.stdout!.on(event, (fact: unknown) => events.push(event, String(fact)));
      }
      await settled(child);
      return [result, events, (child.stdout as Socket).bytesRead];
    },
  'output that comes while the program is busy, long after the exit, handed over then': async (
    cp,
  ) => {
    const script = '(exec 2>&-; read line <&3; echo later) & echo early; echo $! >&2';
    const { child, release } = held(cp, script);
    // Accessed, and read by nobody: a socket reads ahead.
    child.stdout!.on('readable', () => {});
    const [pid] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    await moment();
    release();
    blockUntilGone(Number(pid));
    const other = cp.spawn('cat', { stdio: [child.stdout, 'pipe', 'inherit'] }) as ChildProcess;
    const left = await text(other.stdout!);
    return [left];
  },
  'collected output that ended without a byte, while libuv reads the other, looked at later':
    async (cp) => {
      const { fd, release } = latch();
      const script = `(exec >&-; read line </proc/$PPID/fd/${fd}) & exec >&-`;
      const child = cp.execFile('sh', ['-c', script]);
      (child.stderr as Socket).unref();
      await once(child, 'exit');
      await moment();
      const stdout = child.stdout as Socket;
      const events: unknown[] = [stdout.destroyed, stdout.closed];
      for (const event of ['end', 'close', 'error']) stdout.on(event, () => events.push(event));
      await moment();
      release();
      await settled(child);
      return events;
    },
  'output destroyed long after the exit': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'sleep 5 & exit 0']);
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment(100);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    return await closed;
  },
  'all that ended is looked at long after the exit': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo gone; exit 4']);
    const code = (await once(child, 'close'))[0];
    await moment(50);
    return [code, child.stdout.readable, child.stdout.destroyed, child.stdin.destroyed];
  },
  'input first looked at in the listener of the exit': async (cp) => {
    const child = cp.spawn('true');
    const [, facts] = await Promise.all([
      once(child, 'close'),
      new Promise((resolve) =>
        child.on('exit', () => resolve([child.stdin.destroyed, child.stdin.writable])),
      ),
    ]);
    return facts;
  },
  'input that a grandchild reads, looked at in the listener of the exit': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'exec 3<&0; (cat <&3; echo eof) & exit 0']);
    child.on('exit', () => void child.stdin.destroyed);
    return await text(child.stdout);
  },
  'an extra pipe looked at long after the exit': async (cp) => {
    const child = cp.spawn('sh', ['-c', '(sleep 0.4; echo later >&3) & exit 0'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const closed = once(child, 'close');
    await once(child, 'exit');
    await moment(100);
    const late = text(child.stdio[3] as never);
    return [await late, await closed];
  },
  'execFile with a timeout and a grandchild': async (cp) => {
    let result: unknown[] = [];
    const child = cp.execFile(
      'sh',
      ['-c', 'sleep 5 & echo hi'],
      { timeout: 300 },
      (error, stdout) => (result = [error?.killed, error?.code, error?.signal, stdout]),
    );
    await settled(child);
    return result;
  },
  'execFile with a timeout and a grandchild that writes': async (cp) => {
    let result: unknown[] = [];
    const child = cp.execFile(
      'sh',
      ['-c', '(sleep 0.15; echo later; sleep 5) & echo hi'],
      { timeout: 600 },
      (error, stdout) => (result = [error?.killed, error?.signal, stdout]),
    );
    await settled(child);
    return result;
  },
  'exec that is aborted and a grandchild': async (cp) => {
    const controller = new AbortController();
    let result: unknown[] = [];
    const child = cp.exec('sleep 5 & echo hi', { signal: controller.signal }, (error, stdout) => {
      result = [error?.name, stdout];
    });
    child.stdout!.once('data', () => setTimeout(() => controller.abort(), 100));
    setTimeout(() => child.stdout!.destroy(), 400);
    setTimeout(() => child.stderr!.destroy(), 400);
    await settled(child);
    return result;
  },
  'exec whose grandchild exceeds maxBuffer': async (cp) => {
    let result: unknown[] = [];
    const child = cp.exec(
      '(sleep 0.2; yes | head -c 300000; sleep 5) & echo hi',
      { maxBuffer: 1000 },
      (error, stdout) => (result = [error?.code, stdout.length]),
    );
    await settled(child);
    return result;
  },
};

/** A child that leaves a process with its outputs, which waits to be released. */
function held(
  cp: ChildProcessModule,
  script: string,
): { child: ChildProcess; release: () => void } {
  const { fd, release } = latch();
  const child = cp.spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', fd] });
  return { child, release };
}

/** Keeps the thread until a process has ended, and the engine's thread has seen what that has closed. */
function blockUntilGone(pid: number): void {
  while (stateOf(pid) === 'running') block(1);
  do block(5);
  while (hasBusyThread());
}

/** All of its streams are looked at, and then the thread is busy until the child has ended. */
async function endedBeforeTheLoop(child: ChildProcess): Promise<unknown> {
  const ends: number[] = [];
  for (const [index, stream] of child.stdio.slice(1).entries()) {
    const output = stream as Readable;
    output.on('end', () => ends.push(index + 1)).resume();
  }
  let atExit: unknown;
  child.on('exit', () => {
    atExit = { ends: ends.toSorted(), destroyed: child.stdio.map((stream) => stream!.destroyed) };
  });
  const closed = once(child, 'close');
  blockUntilEnded(child);
  await closed;
  return [atExit, ends.toSorted()];
}
