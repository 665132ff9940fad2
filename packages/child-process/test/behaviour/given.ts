import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { attempt, describeError, moment, outcome, type Behaviours } from './trace.ts';

const mixed = ['a', 1, null, undefined, { toString: () => 'object' }, true, [1, 2]] as never[];

/** What becomes of the values that a caller gives: which of them a child shows, and which of them Node changes. */
export const given: Behaviours = {
  'arguments that are not text': async (cp) => {
    const child = cp.spawn('echo', mixed);
    return [child.spawnargs.slice(), await outcome(child)];
  },
  'arguments of a shell that are not text': async (cp) => {
    const child = cp.spawn('echo', mixed, { shell: true });
    return [child.spawnargs.slice(), await outcome(child)];
  },
  'arguments that are not text, of a program that is missing': async (cp) => {
    const [error] = await once(cp.spawn('redline-no-such-program', mixed), 'error');
    const sync = cp.spawnSync('redline-no-such-program', mixed);
    return [describeError(error), describeError(sync.error)];
  },
  'a list of stdio that is too short': async (cp) => {
    const lists: unknown[][] = [[], ['ignore'], ['ignore', null]];
    for (const stdio of lists) await outcome(cp.spawn('true', { stdio } as never));
    const sync: unknown[] = ['ignore'];
    cp.spawnSync('true', { stdio: sync as never });
    return [lists, sync];
  },
  'a frozen list of stdio': (cp) => [
    attempt(() => cp.spawn('true', { stdio: Object.freeze(['ignore']) as never })),
    attempt(() => cp.spawnSync('true', { stdio: Object.freeze([]) as never })),
    attempt(() => cp.spawn('true', { stdio: Object.freeze(['ignore', 'pipe', 'pipe']) as never })),
  ],
  'a child that is being made, as subscribers see it': async (cp) => {
    const seen: unknown[] = [];
    const see = (message: unknown): void => {
      const { spawnfile, spawnargs, pid } = (message as { process: ChildProcess }).process;
      seen.push(spawnfile, spawnargs, pid);
    };
    subscribe('child_process', see);
    const child = cp.spawn('true', ['argument']);
    unsubscribe('child_process', see);
    await once(child, 'close');
    return [seen, child.spawnfile, child.spawnargs, Object.keys(child)];
  },
  'the names of the options of a fork, as tracers see them': async (cp) => {
    const seen: unknown[] = [];
    const see = (message: unknown): void => {
      seen.push(Object.keys((message as { options: object }).options).toSorted());
    };
    subscribe('tracing:child_process.spawn:start', see);
    const child = cp.fork('--version', { silent: true });
    unsubscribe('tracing:child_process.spawn:start', see);
    await once(child, 'close');
    return seen;
  },
  'how many parameters the functions have': (cp) =>
    [cp.spawn, cp.exec, cp.execFile, cp.fork, cp.spawnSync, cp.execSync, cp.execFileSync].map(
      ({ name, length }) => [name, length],
    ),
  'when what belongs to a program that is missing closes': async (cp) => {
    const collected = await order((log) => {
      const child = cp.execFile('redline-no-such-program', () => log('callback'));
      child.on('close', () => log('close'));
    });
    const streamed = await order((log) => {
      const child = cp.spawn('redline-no-such-program');
      child.on('error', () => log('error')).on('close', () => log('close'));
      for (const [index, stream] of child.stdio.entries())
        stream!.on('close', () => log(`fd ${index}`));
    });
    return [collected, streamed];
  },
};

/** What happens, and the loop's own phases between. */
async function order(run: (log: (what: string) => void) => void): Promise<string[]> {
  await moment(5);
  const events: string[] = [];
  run((what) => events.push(what));
  process.nextTick(() => events.push('tick'));
  setImmediate(() => events.push('immediate'));
  await moment(50);
  return events;
}
