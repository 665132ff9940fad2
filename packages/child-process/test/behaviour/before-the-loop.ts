import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { hasBusyThread, runs } from '../fuzz/quiet.ts';
import {
  block,
  blockUntilEnded,
  describeError,
  moment,
  settled,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

/** By then the child has printed, and the engine, which reads on threads of its own, has it. */
const PRINTED_MS = 300;
const both = 'echo out; echo err >&2';
/** More than the pipe of an output holds, and less than the engine reads ahead. */
const MUCH = 260_000;

/** What is done to a child that has printed, before the event loop has looked for its output. */
export const beforeTheLoop: Behaviours = {
  'both outputs are destroyed': (cp) =>
    run(cp, both, {}, (child) => {
      child.stdout!.destroy();
      child.stderr!.destroy();
    }),
  'an output is destroyed that has listeners': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.on('data', (chunk) => seen.push(['data', chunk]));
      child.stdout!.on('end', () => seen.push('end'));
      child.stdout!.destroy();
    }),
  'more output than its pipe holds is given to the reader once': async (cp) => {
    const child = cp.spawn('head', ['-c', `${MUCH}`, '/dev/zero']);
    let count = 0;
    child.stdout.on('data', (chunk: Buffer) => (count += chunk.length));
    await blockUntilStill(child);
    (child.stdout as Socket).unref();
    await settled(child);
    return [count, (child.stdout as Socket).bytesRead];
  },
  'more output than its pipe holds is given to the reader or to another child': async (cp) => {
    const child = cp.spawn('head', ['-c', `${MUCH}`, '/dev/zero']);
    let count = 0;
    child.stdout.on('data', (chunk: Buffer) => (count += chunk.length));
    await blockUntilStill(child);
    const other = cp.spawn('wc', ['-c'], { stdio: [child.stdout, 'pipe', 'inherit'] });
    count += Number(await text((other as ChildProcess).stdout!));
    child.stdout.destroy();
    return count;
  },
  'an output is destroyed with an error': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.on('error', (error) => seen.push(['error', error.message]));
      child.stdout!.destroy(new Error('broken'));
    }),
  'an output is destroyed on the next tick': (cp) =>
    run(cp, both, {}, (child) => {
      process.nextTick(() => {
        block(PRINTED_MS);
        child.stdout!.destroy();
      });
    }),
  'an output that was looked at is destroyed on the next tick': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.on('data', (chunk) => seen.push(['data', chunk]));
      process.nextTick(() => child.stdout!.destroy());
    }),
  'an output is destroyed in a microtask': (cp) =>
    run(cp, both, {}, (child) => {
      void child.stderr;
      void Promise.resolve().then(() => child.stderr!.destroy());
    }),
  'an output is destroyed when the program runs': (cp) =>
    run(cp, both, {}, (child) => {
      child.on('spawn', () => {
        block(PRINTED_MS);
        child.stderr!.destroy();
      });
    }),
  'too much output is destroyed': async (cp) => [
    await run(cp, both, { maxBuffer: 1 }, (child) => child.stdout!.destroy()),
    await run(cp, 'echo err >&2; exec sleep 20', { maxBuffer: 1 }, (child) => {
      child.stderr!.destroy();
      setTimeout(() => child.kill(), 100);
    }),
  ],
  'an output is destroyed whose child still runs': (cp) =>
    run(cp, `${both}; sleep 0.2; echo more >&2`, {}, (child) => child.stdout!.destroy()),
  'an output is destroyed that the loop does not wait for': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.on('data', (chunk) => seen.push(['data', chunk]));
      (child.stdout as Socket).unref();
      child.stdout!.destroy();
      child.stderr!.on('data', (chunk) => seen.push(['error data', chunk]));
      child.unref();
      child.stderr!.destroy();
    }),
  'outputs that are paused, and resumed': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.pause();
      child.stderr!.pause();
      seen.push(child.stdout!.readableLength, child.stderr!.read());
      setTimeout(() => {
        seen.push(child.stdout!.isPaused());
        child.stdout!.resume();
        child.stderr!.resume();
      }, 50);
    }),
  'outputs that are paused for ever': (cp) =>
    run(cp, both, {}, (child) => {
      child.stdout!.pause();
      child.stderr!.pause();
    }),
  'an output is read at once': (cp) =>
    run(cp, both, {}, (child, seen) => {
      seen.push(
        child.stdout!.read(),
        child.stdout!.readableLength,
        (child.stdout as Socket).bytesRead,
      );
      process.nextTick(() => seen.push((child.stdout as Socket).bytesRead));
    }),
  'an output that the loop does not wait for is read at once': (cp) =>
    run(cp, both, {}, (child, seen) => {
      (child.stdout as Socket).unref();
      seen.push(
        child.stdout!.read(),
        child.stdout!.readableLength,
        (child.stdout as Socket).bytesRead,
      );
      child.stdout!.on('data', (chunk) => seen.push(['data', chunk]));
      child.stdout!.on('end', () => seen.push('end'));
    }),
  'an encoding is set': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.setEncoding('hex');
      child.stdout!.on('data', (chunk) => seen.push(chunk));
    }),
  'a listener is added': (cp) =>
    run(cp, both, {}, (child, seen) => {
      child.stdout!.on('data', (chunk) => seen.push(chunk));
      process.nextTick(() => seen.push('tick'));
    }),
  "the collector's listeners are removed": (cp) =>
    run(cp, both, {}, (child) => {
      child.stdout!.removeAllListeners('data');
      child.stderr!.removeAllListeners('data');
    }),
  'an output is piped and no longer': (cp) =>
    run(cp, both, {}, (child, seen) => {
      const next = cp.spawn('cat');
      next.stdout.on('data', (chunk) => seen.push(['cat', String(chunk)]));
      child.stdout!.pipe(next.stdin);
      child.stdout!.unpipe(next.stdin);
      next.stdin.end();
    }),
  'an abort': async (cp) => {
    const controller = new AbortController();
    const { signal } = controller;
    return run(cp, `${both}; exec sleep 20`, { signal }, () => controller.abort());
  },
  'an abort of a child that has ended': async (cp) => {
    const controller = new AbortController();
    const { signal } = controller;
    return run(cp, both, { signal }, () => controller.abort());
  },
  'a timeout that is over': (cp) =>
    run(cp, `${both}; exec sleep 20`, { timeout: 20 }, (child, seen) => {
      child.on('close', () => seen.push(child.stdout!.destroyed, child.stdout!.readableEnded));
    }),
  'promises whose outputs are destroyed': async (cp) => {
    const answers: unknown[] = [];
    const calls = [
      () => promisify(cp.exec)(both, { maxBuffer: 1 }),
      () => promisify(cp.execFile)('sh', ['-c', both], { maxBuffer: 1 }),
    ];
    for (const call of calls) {
      const promise = call();
      block(PRINTED_MS);
      promise.child.stdout!.destroy();
      promise.child.stderr!.destroy();
      answers.push(await promise.catch(describeError));
    }
    return answers;
  },
};

type Act = (child: ChildProcess, seen: unknown[]) => void;

/** What the callback gets, and what else was seen, of a child that has printed when `act` is called. */
async function run(
  cp: ChildProcessModule,
  script: string,
  options: object,
  act: Act,
): Promise<unknown> {
  const seen: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const child = cp.execFile('sh', ['-c', script], options, (error, stdout, stderr) => {
    seen.push(['called back', describeError(error), stdout, stderr]);
    resolve();
  });
  block(PRINTED_MS);
  // On a busy machine it may take longer.
  if (script === both) blockUntilEnded(child);
  act(child, seen);
  await promise;
  await moment();
  return seen;
}

/** Keeps the thread, once reading has started on the next tick, until the child has ended or waits for its output to be read. */
async function blockUntilStill(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const pid = child.pid!;
  do block(5);
  while (runs(pid) || hasBusyThread());
}
