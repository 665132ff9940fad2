import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { PassThrough, type Duplex } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { hasBusyThread } from '../fuzz/quiet.ts';
import { block, moment, settled, type Behaviours, type ChildProcessModule } from './trace.ts';

type Module = ChildProcessModule;

const piped = ['pipe', 'pipe', 'pipe', 'pipe'] as const;

/** What the child closes while it runs: the script, and the descriptor. */
const outputs: Record<string, readonly [script: string, fd: number]> = {
  stdout: ['exec >&-', 1],
  stderr: ['exec 2>&-', 2],
  'an extra pipe': ['exec 3>&-', 3],
};

const starts: Record<string, (cp: Module, script: string) => ChildProcess> = {
  spawn: (cp, script) => cp.spawn('sh', ['-c', script], { stdio: [...piped] }),
  'spawn with a channel': (cp, script) =>
    cp.spawn('sh', ['-c', script], { stdio: [...piped, 'ipc'] }),
};

const deeds: Record<string, (stream: Duplex) => unknown> = {
  looked: () => undefined,
  'listened to': (stream) => void stream.on('data', () => {}),
  destroyed: (stream) => void stream.destroy(),
  'destroyed with an error': (stream) => void stream.destroy(new Error('broken')),
  written: (stream) =>
    new Promise((resolve) => {
      stream.write('x', (error) => resolve((error as NodeJS.ErrnoException | null)?.code));
    }),
  ended: (stream) =>
    new Promise((resolve) => {
      stream.end((error?: NodeJS.ErrnoException | null) => resolve(error?.code));
    }),
  'read to the end': (stream) => text(stream),
  'waited for': (stream) => finished(stream),
  piped: (stream) => pipeline(stream, new PassThrough().resume()),
};

/** Outputs that the child closes, without a byte, while it runs and before anybody has accessed them. */
export const endedUnseen: Behaviours = {
  ...Object.fromEntries(
    Object.entries(starts).flatMap(([start, begin]) =>
      Object.entries(outputs).map(([output, [script, fd]]) => [
        `${output} of ${start} that ended before the first access`,
        (cp: Module) =>
          all(deeds, async (act) => {
            const child = begin(cp, `${script}; read line`);
            await untilClosed(child, fd);
            return use(child, fd, act);
          }),
      ]),
    ),
  ),
  'collected output that ended before the first access': (cp) =>
    all(deeds, async (act) => {
      const seen: unknown[] = [];
      for (const script of ['exec >&-', 'echo out; exec >&-']) {
        let result: unknown;
        const child = cp.execFile(
          'sh',
          ['-c', `${script}; read line; exit 3`],
          (error, ...output) => (result = [error?.code, ...output]),
        );
        await untilClosed(child, 1);
        seen.push(await use(child, 1, act), result);
      }
      return seen;
    }),
  'an output that ended before the first access, in the listener of the exit': async (cp) => {
    const seen: unknown[] = [];
    const args = ['-c', 'echo out >&2; exec >&- 2>&-; read line'];
    for (const child of [cp.spawn('sh', args), cp.execFile('sh', args)]) {
      await untilClosed(child, 2);
      const exited = new Promise((resolve) =>
        child.on('exit', () => resolve(facts(child.stdout as Duplex))),
      );
      child.stdin!.end();
      seen.push(await exited);
      await settled(child);
    }
    return seen;
  },
  'an output that ended before the first access, while the loop waited for something else': async (
    cp,
  ) => {
    const child = cp.spawn('sh', ['-c', 'exec >&-; read line']);
    // One look of the loop, as nothing else happens in this process.
    await moment(1000);
    return use(child, 1, deeds['destroyed with an error']!);
  },
  'outputs that are first accessed after the close': (cp) =>
    all(deeds, async (act) => {
      const child = cp.spawn('sh', ['-c', 'echo out']);
      await once(child, 'close');
      await looks();
      return [await use(child, 1, act), await use(child, 2, act), facts(child.stdin as Duplex)];
    }),
  'an output that ends while the program is busy, and is accessed then': (cp) =>
    all(deeds, async (act) => {
      const child = cp.spawn('sh', ['-c', 'echo ready >&2; read line; exec >&-; read line']);
      await once(child.stderr, 'data');
      child.stdin.write('go\n');
      while (isOpen(child.pid!, 1)) block(1);
      // The engine has seen it, too.
      do block(5);
      while (hasBusyThread());
      return use(child, 1, act);
    }),
  'an output that ended before the first access, given to another child': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'exec >&-; read line']);
    await untilClosed(child, 1);
    try {
      cp.spawn('cat', { stdio: [child.stdout, 'pipe', 'inherit'] });
      return 'started';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    } finally {
      child.stdin.end();
      await settled(child);
    }
  },
  'an output that ended behind bytes, before the first access': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo out; exec >&-; read line']);
    await untilClosed(child, 1);
    const { destroyed, readableEnded } = child.stdout;
    const read = await text(child.stdout);
    child.stdin.end();
    await settled(child);
    return [destroyed, readableEnded, read];
  },
};

async function all<T>(
  each: Record<string, T>,
  act: (one: T) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const results = Object.entries(each).map(async ([name, one]) => [name, await act(one)]);
  return Object.fromEntries((await Promise.all(results)) as [string, unknown][]);
}

/** Does something to an output, ends the child, and returns all that came of it. */
async function use(
  child: ChildProcess,
  fd: number,
  act: (stream: Duplex) => unknown,
): Promise<unknown> {
  const stream = child.stdio[fd as 1] as unknown as Duplex;
  const before = facts(stream);
  const events: unknown[] = [];
  for (const event of ['end', 'close', 'error'] as const) {
    stream.on(event, (fact: unknown) =>
      events.push(fact instanceof Error ? [event, fact.message] : event),
    );
  }
  let result: unknown = 'nothing yet';
  void (async () => act(stream))().then(
    (value) => (result = value),
    (error: unknown) => (result = (error as NodeJS.ErrnoException).code),
  );
  await looks();
  const isRunning = child.exitCode === null;
  child.stdin!.end();
  if (isRunning) await settled(child);
  return { before, result, events, after: facts(stream), exitCode: child.exitCode };
}

function facts(stream: Duplex): unknown {
  const { destroyed, closed, errored, readable, readableEnded } = stream;
  const { writable, writableEnded, readableEncoding } = stream;
  const { pending, readyState } = stream as unknown as Record<string, unknown>;
  return {
    destroyed,
    closed,
    errored: (errored as Error | null)?.message,
    readable,
    readableEnded,
    readableEncoding,
    writable,
    writableEnded,
    pending,
    readyState,
  };
}

/** Resolves once the child has closed a descriptor, and each thread of this process, the loop's too, has had the time to see it. */
async function untilClosed(child: ChildProcess, fd: number): Promise<void> {
  do await looks();
  while (isOpen(child.pid!, fd));
  for (let times = 0; times < 3; times++) {
    do await looks();
    while (hasBusyThread());
  }
}

/** Resolves when the loop has looked for events several times. A timer may come before it has done so once. */
async function looks(): Promise<void> {
  await moment();
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function isOpen(pid: number, fd: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/fd/${fd}`);
    return true;
  } catch {
    return false;
  }
}
