// Runs another process at a given share of one core, for measurements that should hold on a machine with other work. It
// sleeps for random times, and then takes the CPU time due by then; the scheduler chooses the core. `OtherLoad.start(0.3)`
// starts it, and it ends with its parent process, for whatever reason that ends.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Max CPU time that is made up for: a process that had to wait for a second does not take the core for one. */
const maxDueMs = 200;
const longestSleepMs = 95;

export class OtherLoad {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(share: number): Promise<OtherLoad> {
    if (!(share > 0 && share < 1)) {
      throw new RangeError(`The load is a share of one core between 0 and 1; got ${share}.`);
    }
    const child = fork(import.meta.filename, [String(share)], { execArgv: [] });
    await once(child, 'message');
    return new OtherLoad(child);
  }

  /** @returns the share of a core that it really had since the last call */
  async share(): Promise<number> {
    const said = once(this.#child, 'message');
    this.#child.send('share');
    const [share] = (await said) as [number];
    return share;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

if (import.meta.main) await work(Number(process.argv[2]));

async function work(share: number): Promise<void> {
  let [begun, before] = [performance.now(), usedMs()];
  // Runs between two bursts.
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    process.send!((usedMs() - before) / (performance.now() - begun));
    [begun, before] = [performance.now(), usedMs()];
  });
  process.send!('started');
  let dueFrom = { at: begun, used: before };
  for (;;) {
    await sleep(Math.random() * longestSleepMs);
    const [now, used] = [performance.now(), usedMs()];
    const due = dueFrom.used + (now - dueFrom.at) * share;
    if (due - used > maxDueMs) dueFrom = { at: now - maxDueMs / share, used };
    const until = Math.min(due, used + maxDueMs);
    while (usedMs() < until);
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
