import { once } from 'node:events';
import {
  attempt,
  block,
  blockUntilEnded,
  moment,
  outcome,
  record,
  settled,
  type Behaviours,
} from './trace.ts';

export const ending: Behaviours = {
  'children that have all ended before the loop looks': async (cp) => {
    const exits: number[] = [];
    const children = ['sleep 0.1; echo first', 'echo second', 'sleep 0.05', 'exit 3'].map((code) =>
      cp.spawn('sh', ['-c', code]),
    );
    for (const [index, child] of children.entries()) child.on('exit', () => exits.push(index));
    for (const child of children) blockUntilEnded(child);
    await Promise.all(children.map((child) => once(child, 'close')));
    return exits;
  },
  'a child and the one that reads its output, when both have ended before the loop looks': async (
    cp,
  ) => {
    const events: string[] = [];
    const first = cp.spawn('sh', ['-c', 'sleep 0.05; echo out']);
    const second = cp.spawn('cat', { stdio: [first.stdout, 'pipe', 'inherit'] });
    for (const [name, child] of Object.entries({ first, second })) {
      for (const event of ['exit', 'close']) child.on(event, () => events.push(`${name} ${event}`));
    }
    for (const child of [first, second]) blockUntilEnded(child);
    await once(second, 'close');
    return events;
  },
  kill: async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    const answer = child.kill();
    return [answer, child.killed, await record(child)];
  },
  'kill with each kind of signal': async (cp) => {
    const results: unknown[] = [];
    for (const signal of ['SIGKILL', 9, 'SIGINT', 'SIGUSR1', 'sigterm'] as const) {
      const child = cp.spawn('sleep', ['10']);
      results.push(
        attempt(() => child.kill(signal as never)),
        await outcome(child),
      );
    }
    return results;
  },
  'kill with signal 0': async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    const answers = [child.kill(0), child.killed];
    child.kill();
    await settled(child);
    return [answers, child.kill(0), child.kill()];
  },
  'kill with no signal': async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    const results = [
      attempt(() => child.kill('SIGNOTHING' as never)),
      attempt(() => child.kill(4711)),
      attempt(() => child.kill({} as never)),
    ];
    child.kill('SIGKILL');
    return [results, await record(child)];
  },
  'kill of a child that was not started': async (cp) => {
    const child = cp.spawn('redline-no-such-program');
    const answer = child.kill();
    return [answer, child.killed, await record(child)];
  },
  'a signal the child handles': async (cp) => {
    const child = cp.spawn('sh', [
      '-c',
      'trap "echo caught; exit 7" TERM; echo ready; while :; do sleep 0.01; done',
    ]);
    child.stdout.once('data', () => child.kill());
    return outcome(child);
  },
  'kill twice': async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    return [child.kill(), child.kill(), await record(child)];
  },
  'Symbol.dispose': async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    child[Symbol.dispose]();
    child[Symbol.dispose]();
    return record(child);
  },
  pid: async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo $$']);
    const { pid } = child;
    const { out } = (await outcome(child)) as { out: string[] };
    return [out[0] === `${pid}\n`, child.pid === pid, typeof pid];
  },
  'pid when looked at late': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo $$']);
    const { out } = (await outcome(child)) as { out: string[] };
    return out[0] === `${child.pid}\n`;
  },
  'pid of a child that was not started': async (cp) => {
    const child = cp.spawn('redline-no-such-program');
    const early = child.pid;
    child.on('error', () => {});
    await settled(child);
    return [early, child.pid];
  },
  'process.kill by pid': async (cp) => {
    const child = cp.spawn('sleep', ['10']);
    process.kill(child.pid!, 'SIGKILL');
    return record(child);
  },
  timeout: (cp) => record(cp.spawn('sleep', ['10'], { timeout: 50 })),
  'timeout with killSignal': (cp) =>
    record(cp.spawn('sleep', ['10'], { timeout: 50, killSignal: 'SIGKILL' })),
  'timeout that is not reached': (cp) => record(cp.spawn('true', { timeout: 60_000 })),
  'timeout null and 0': async (cp) => [
    await record(cp.spawn('true', { timeout: 0 })),
    await record(cp.spawn('true', { timeout: null as never })),
  ],
  abort: async (cp) => {
    const controller = new AbortController();
    const child = cp.spawn('sleep', ['10'], { signal: controller.signal });
    child.once('spawn', () => controller.abort());
    return record(child);
  },
  'abort at once': async (cp) => {
    const controller = new AbortController();
    const child = cp.spawn('sleep', ['10'], { signal: controller.signal });
    const recorded = record(child);
    controller.abort(new Error('because'));
    return recorded;
  },
  'abort before': (cp) =>
    record(
      cp.spawn('sleep', ['10'], { signal: AbortSignal.abort('reason'), killSignal: 'SIGKILL' }),
    ),
  'abort after the end': async (cp) => {
    const controller = new AbortController();
    const child = cp.spawn('true', { signal: controller.signal });
    const recorded = await record(child);
    controller.abort();
    await moment();
    return [recorded, child.killed];
  },
  'abort of a child that was not started': (cp) =>
    record(cp.spawn('redline-no-such-program', { signal: AbortSignal.abort() })),
  'waiting for one event after the other': async (cp) => {
    const child = cp.spawn('true');
    const seen: unknown[] = [];
    await once(child, 'spawn');
    seen.push('spawn');
    seen.push(await once(child, 'exit'));
    return seen;
  },
  'output comes before the exit, of a child that ends while the program is busy': async (cp) => {
    const seen: string[][] = [];
    for (let round = 0; round < 3; round++) {
      const order: string[] = [];
      const child = cp.spawn('sh', ['-c', 'echo out; echo err >&2']);
      child.stdout.on('data', () => order.push('out'));
      child.stderr.on('data', () => order.push('err'));
      child.on('exit', () => order.push('exit'));
      block(200);
      await settled(child);
      seen.push(order);
    }
    return seen;
  },
  'a spawn listener sees no data before': async (cp) => {
    const order: string[] = [];
    for (let round = 0; round < 20; round++) {
      const child = cp.spawn('echo', ['x']);
      child.on('spawn', () => order.push('spawn'));
      child.stdout.on('data', () => order.push('data'));
      child.on('close', () => order.push('close'));
      await settled(child);
    }
    return order;
  },
  'a spawn listener that is late hears nothing': async (cp) => {
    const child = cp.spawn('true');
    await new Promise((resolve) => setImmediate(resolve));
    let isHeard = false;
    child.on('spawn', () => (isHeard = true));
    await record(child);
    return isHeard;
  },
};
