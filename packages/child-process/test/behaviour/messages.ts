import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import {
  attempt,
  block,
  blockUntilEnded,
  describeError,
  outcome,
  record,
  settled,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-fork-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

function script(name: string, code: string): string {
  const file = join(folder, `${name}.cjs`);
  writeFileSync(file, code);
  return file;
}

const echo = script(
  'echo',
  `process.on('message', (m) => process.send(m, () => process.disconnect()))`,
);
// It lives on a little behind its words: a parent that hears of both in one turn of its loop hears of the channel's end
// behind "close", and whether it does is the machine's affair. That has tests of its own, with a loop that is held up.
const facts = script(
  'facts',
  `process.send({ argv: process.argv.slice(2), execArgv: process.execArgv, cwd: process.cwd(), env: process.env.A })
   setTimeout(() => process.disconnect(), 100)`,
);
const printing = script(
  'printing',
  `console.log('out'); console.error('err'); process.disconnect()`,
);
const serving = script(
  'serving',
  `process.on('message', (m, s) => { s.end('served ' + m); process.disconnect() })`,
);
const refusing = script('refusing', `process.exit(9)`);

/** What a parent does with the output of a child that it listens to by its channel. */
const looks: Readonly<Record<string, (child: ChildProcess) => unknown>> = {
  'not looked at': () => {},
  'looked at': (child) => child.stdout,
  resumed: (child) => child.stdout!.resume(),
  read: (child) => child.stdout!.on('data', () => {}),
  'not to keep the loop': (child) => (child.stdout as Socket).unref(),
  'looked at after the exit': (child) => child.once('exit', () => child.stdout),
};

export const messages: Behaviours = {
  fork: async (cp) => {
    const child = cp.fork(facts, ['a', 'b'], {
      env: { A: 'x' },
      cwd: '/usr',
      execArgv: ['--no-warnings'],
    });
    return record(child).then(without('spawnargs'));
  },
  'fork by URL': (cp) => record(cp.fork(pathToFileURL(facts))),
  'fork with options in the place of arguments': (cp) => record(cp.fork(facts, { cwd: '/' })),
  'fork with null arguments': (cp) => record(cp.fork(facts, null as never, undefined)),
  'fork of what is not there': (cp) =>
    record(cp.fork(join(folder, 'none.cjs'), { silent: true })).then(without('fd 2')),
  'fork on a program that is not there': (cp) => record(cp.fork(facts, { execPath: '/bin/none' })),
  silent: async (cp) => {
    const child = cp.fork(printing, { silent: true });
    return [child.stdio.length, await outcome(child)];
  },
  'stdio of a fork': async (cp) => [
    await outcome(cp.fork(printing, { stdio: 'pipe' })),
    await outcome(cp.fork(printing, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })),
    await outcome(cp.fork(printing, { stdio: 'ignore' })),
  ],
  'messages both ways': async (cp) => {
    const child = cp.fork(echo);
    child.send({ a: [1, 'ä', null, { b: true }] });
    return record(child);
  },
  'messages with advanced serialization': async (cp) => {
    const child = cp.fork(echo, { serialization: 'advanced' });
    child.send({
      map: new Map([[1, new Set(['x'])]]),
      big: 10n,
      date: new Date(0),
      bytes: Buffer.from('b'),
    });
    const [message] = await once(child, 'message');
    await settled(child);
    return message;
  },
  'large messages': async (cp) => {
    const child = cp.fork(echo, { serialization: 'advanced' });
    child.send('x'.repeat(3_000_000));
    const [message] = await once(child, 'message');
    await settled(child);
    return message.length;
  },
  'send calls back': async (cp) => {
    const child = cp.fork(echo);
    const error = await new Promise((resolve) => child.send('x', resolve));
    await settled(child);
    return describeError(error);
  },
  'send after the end': async (cp) => {
    const child = cp.fork(refusing);
    await settled(child);
    const error = await new Promise((resolve) => child.send('x', resolve));
    return [describeError(error), child.connected, child.channel];
  },
  'send of what cannot be sent': async (cp) => {
    const child = cp.fork(echo);
    const results = [
      attempt(() => child.send(undefined as never)),
      attempt(() => child.send((() => {}) as never)),
      attempt(() => child.send('x', {} as never)),
    ];
    child.kill();
    await settled(child);
    return results;
  },
  disconnect: async (cp) => {
    const child = cp.fork(echo);
    child.disconnect();
    const [code] = await once(child, 'exit');
    return [code, child.connected, child.channel];
  },
  'disconnect twice': async (cp) => {
    const child = cp.fork(echo);
    const errors: unknown[] = [];
    child.on('error', (error) => errors.push(describeError(error)));
    child.disconnect();
    child.disconnect();
    await once(child, 'exit');
    return errors;
  },
  'a child without a channel': async (cp) => {
    const child = cp.spawn('true');
    const seen = [child.connected, child.channel, typeof child.send, typeof child.disconnect];
    await record(child);
    return seen;
  },
  'ipc in stdio of spawn': async (cp) => {
    const child = cp.spawn(process.execPath, [facts, 'x'], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const shape = child.stdio.map((stream) => stream === null);
    return [shape, await record(child).then(without('spawnargs'))];
  },
  'ipc at another descriptor': (cp) =>
    outcome(
      cp.spawn('sh', ['-c', 'echo $NODE_CHANNEL_FD $NODE_CHANNEL_SERIALIZATION_MODE'], {
        stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ipc'],
        serialization: 'advanced',
      }),
    ),
  'ipc as stdin': (cp) =>
    outcome(cp.spawn('sh', ['-c', 'echo $NODE_CHANNEL_FD'], { stdio: ['ipc', 'pipe', 'inherit'] })),
  'ipc beside a stream': async (cp) => {
    const first = cp.spawn('echo', ['to a fork']);
    const second = cp.spawn('cat', [], { stdio: [first.stdout, 'pipe', 'inherit', 'ipc'] });
    return outcome(second);
  },
  'ipc with a program that is not there': (cp) =>
    record(cp.spawn('redline-no-such-program', { stdio: ['pipe', 'pipe', 'pipe', 'ipc'] })),
  'a socket is sent': async (cp) => {
    const child = cp.fork(serving);
    const server = createServer({ pauseOnConnect: true }, (socket) => child.send('well', socket));
    await once(server.listen(0), 'listening');
    const answer = await text(connect((server.address() as { port: number }).port));
    server.close();
    await settled(child);
    return answer;
  },
  'ref and unref of the channel': async (cp) => {
    const child = cp.fork(echo);
    child.channel!.unref();
    child.channel!.ref();
    child.send('x');
    return record(child);
  },
  'kill of a fork': async (cp) => {
    const child = cp.fork(echo);
    child.kill();
    return record(child);
  },
  'a channel that outlives the child by what the exit does': async (cp) => [
    await ordersOfKill(cp, () => {}),
    await ordersOfKill(cp, (child) => child.stdout!),
    await ordersOfKill(cp, (child) => child.stdout!.resume()),
  ],
  'a channel and outputs that outlive the child by what the exit does': async (cp) => [
    await ordersOfOrphan(cp, ''),
    await ordersOfOrphan(cp, 'echo out'),
  ],
  'a channel that ends with the child': async (cp) => [
    await ordersOfExit(cp, () => {}),
    await ordersOfExit(cp, (child) => child.stdout!),
    await ordersOfExit(cp, (child) => child.stdout!.resume()),
  ],
  ...Object.fromEntries(
    Object.entries(looks).map(([name, look]) => [
      `last words that are heard with the exit, and output that is ${name}`,
      async (cp: ChildProcessModule) => [
        await lastWords(cp, "echo '{}' >&3", look),
        await lastWords(cp, "echo out; echo '{}' >&3", look),
        await lastWords(cp, "echo err >&2; echo '{}' >&3", look),
        await lastWords(cp, 'echo out', look),
      ],
    ]),
  ),
  'abort of a fork': (cp) => record(cp.fork(echo, { signal: AbortSignal.abort() })),
  'timeout of a fork': (cp) => record(cp.fork(echo, { timeout: 100 })),
};

const withChannel: StdioOptions = ['pipe', 'pipe', 'pipe', 'ipc'];

/**
 * What the killed shell waits for holds the channel, and ends once its stdin does, which is after the exit: the outputs
 * have closed by then.
 */
function ordersOfKill(cp: ChildProcessModule, look: (child: ChildProcess) => unknown) {
  const inner = `echo '"runs"' >&3; read line`;
  return orders(() => {
    const child = cp.spawn('sh', ['-c', 'echo out; sh -c "$INNER" > /dev/null 2>&1; exit 3'], {
      stdio: withChannel,
      env: { ...process.env, INNER: inner },
    });
    child.once('message', () => child.kill());
    look(child);
    return child;
  });
}

/** Here it holds the outputs, too, that nobody looks at, and ends while the exit is being heard. */
function ordersOfOrphan(cp: ChildProcessModule, first: string) {
  const inner = `${first}\necho '"runs"' >&3; read line`;
  return orders(() => {
    const child = cp.spawn('sh', ['-c', 'sh -c "$INNER"; exit 3'], {
      stdio: withChannel,
      env: { ...process.env, INNER: inner },
    });
    child.once('message', () => child.kill());
    child.once('exit', () => {
      void child.stdin!.destroyed;
      block(50);
    });
    return child;
  });
}

async function lastWords(
  cp: ChildProcessModule,
  code: string,
  look: (child: ChildProcess) => unknown,
): Promise<string[][]> {
  const heard: string[][] = [];
  for (let round = 0; round < 2; round++) {
    const child = cp.spawn('sh', ['-c', code], { stdio: withChannel });
    const order: string[] = [];
    for (const event of ['message', 'exit', 'close', 'disconnect'])
      child.on(event, () => order.push(event));
    look(child);
    blockUntilEnded(child);
    await Promise.all([once(child, 'disconnect'), settled(child)]);
    heard.push(order);
  }
  return heard;
}

function ordersOfExit(cp: ChildProcessModule, look: (child: ChildProcess) => unknown) {
  return orders(() => {
    const child = cp.spawn('sh', ['-c', 'echo out; echo err >&2; exit 3'], { stdio: withChannel });
    look(child);
    return child;
  });
}

/** In which order events come, of a few children: one alone may be luck. */
async function orders(start: () => ChildProcess): Promise<string[]> {
  const seen: string[] = [];
  for (let round = 0; round < 8; round++) {
    const events: string[] = [];
    const child = start();
    for (const event of ['exit', 'close', 'disconnect']) child.on(event, () => events.push(event));
    await settled(child);
    seen.push(events.join(' '));
  }
  return seen;
}

function without(name: string): (recorded: Record<string, unknown>) => unknown {
  return (recorded) => ({ ...recorded, [name]: null });
}
