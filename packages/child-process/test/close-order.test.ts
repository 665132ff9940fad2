import assert from 'node:assert/strict';
import * as nodes from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';

const CHILDREN = 5;
const engines = { "Node's": nodes, 'the engine': redline } as const;

/** Whether the process has ended, reaped or not. */
function hasEnded(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}

/** Starts children that end in the reverse order of their starts, all of them while the loop is blocked. */
async function eventsOf(
  { spawn }: Pick<typeof nodes, 'spawn'>,
  stdio: nodes.StdioOptions,
): Promise<string> {
  const events: string[] = [];
  const children = Array.from({ length: CHILDREN }, (_, number) => {
    const script = `echo out; echo err >&2; sleep 0.0${CHILDREN - number}`;
    const child = spawn('sh', ['-c', script], { stdio });
    child.stdout?.resume();
    child.stderr?.resume();
    const closed = new Promise((done) => child.on('close', done));
    child.on('exit', () => events.push(`exit ${number}`));
    child.on('close', () => events.push(`close ${number}`));
    return { child, closed };
  });
  const pids = children.map(({ child }) => child.pid!);
  while (!pids.every(hasEnded));
  await Promise.all(children.map(({ closed }) => closed));
  return events.join(', ');
}

const numbers = Array.from({ length: CHILDREN }, (_, number) => number);
const skip = process.platform !== 'linux' && 'only Linux says in a file that a process has ended';

describe('of children that end while the loop is blocked', { skip }, () => {
  for (const [name, engine] of Object.entries(engines)) {
    test(`${name}: without pipes each closes with its exit, in the order of the starts`, async () => {
      const expected = numbers.map((number) => `exit ${number}, close ${number}`).join(', ');
      assert.equal(await eventsOf(engine, 'ignore'), expected);
    });

    // In which order the pipes of several children close is chance with Node, too: that of the kernel's news.
    test(`${name}: with pipes all have exited, in the order of the starts, before the first closes`, async () => {
      const events = (await eventsOf(engine, ['ignore', 'pipe', 'pipe'])).split(', ');
      assert.deepEqual(
        events.slice(0, CHILDREN),
        numbers.map((number) => `exit ${number}`),
      );
      assert.deepEqual(
        events.slice(CHILDREN).toSorted(),
        numbers.map((number) => `close ${number}`),
      );
    });
  }
});
