import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { until } from '@redline/services/until';
import { attempt, latch, moment, outcome, record, settled, type Behaviours } from './trace.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-stdio-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const links = 'for fd in 0 1 2; do readlink /proc/$$/fd/$fd | sed "s/[0-9]//g"; done';

function fresh(): string {
  return join(folder, `${Math.random()}`);
}

export const stdio: Behaviours = {
  'the default': async (cp) => {
    const child = cp.spawn('true');
    const shape = shapeOf(child.stdio);
    await record(child);
    return shape;
  },
  pipe: (cp) => outcome(cp.spawn('sh', ['-c', 'echo out; echo err >&2'], { stdio: 'pipe' })),
  overlapped: (cp) =>
    outcome(cp.spawn('sh', ['-c', 'echo out; echo err >&2'], { stdio: 'overlapped' })),
  ignore: async (cp) => {
    const child = cp.spawn('sh', ['-c', `[ "$(readlink /proc/$$/fd/1)" = /dev/null ]`], {
      stdio: 'ignore',
    });
    return [shapeOf(child.stdio), child.stdin, child.stdout, child.stderr, await record(child)];
  },
  'a mixture': async (cp) => {
    const child = cp.spawn('sh', ['-c', links], { stdio: ['ignore', 'pipe', 'inherit'] });
    return [
      shapeOf(child.stdio),
      child.stderr,
      ((await outcome(child)) as { exitCode: number }).exitCode,
    ];
  },
  'null and undefined are the default': async (cp) => {
    const child = cp.spawn('cat', [], { stdio: [null, undefined, null, null] });
    child.stdin!.end();
    return [shapeOf(child.stdio), await record(child)];
  },
  'an empty list': async (cp) => {
    const child = cp.spawn('echo', ['x'], { stdio: [] });
    return [shapeOf(child.stdio), await outcome(child)];
  },
  'the end of stdin comes after "spawn"': async (cp) => {
    const logs = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const child = cp.spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'] });
        const log: string[] = [];
        child.on('spawn', () => log.push('spawn'));
        child.stdin!.on('finish', () => log.push('finish'));
        child.stdin!.on('close', () => log.push('close'));
        child.stdin!.end('x', () => log.push('ended'));
        await settled(child);
        return log.join();
      }),
    );
    return [...new Set(logs)];
  },
  'negative numbers are pipes': async (cp) => {
    const child = cp.spawn('echo', ['x'], { stdio: ['ignore', -1, 'ignore'] });
    return [shapeOf(child.stdio), await outcome(child)];
  },
  'more than three pipes': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo three >&3; cat <&4 >&5'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    (child.stdio[4] as Writable).end('through');
    const [three, five] = await Promise.all([
      text(child.stdio[3] as Readable),
      text((child.stdio as unknown as Readable[])[5]!),
    ]);
    return [three, five, child.exitCode ?? (await once(child, 'exit'))[0]];
  },
  'holes stay closed': (cp) =>
    outcome(
      cp.spawn('sh', ['-c', 'ls /proc/self/fd | tr "\\n" " "'], {
        stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
      }),
    ),
  'gaps in the list are passed over': (cp) => {
    const gap = ['ignore', 'pipe', 'ignore'] as StdioOptions & string[];
    gap[4] = 'pipe';
    const script = 'for fd in 3 4; do [ -e /proc/$$/fd/$fd ] && echo $fd; done';
    return outcome(cp.spawn('sh', ['-c', script], { stdio: gap }));
  },
  'a descriptor': async (cp) => {
    const file = fresh();
    const fd = openSync(file, 'w');
    const child = cp.spawn('sh', ['-c', 'echo out; echo err >&2'], { stdio: ['ignore', fd, fd] });
    // It is the child's by now.
    closeSync(fd);
    await settled(child);
    return readFileSync(file, 'utf8');
  },
  'a file to read': async (cp) => {
    const file = fresh();
    writeFileSync(file, 'content');
    const fd = openSync(file, 'r');
    const child = cp.spawn('cat', [], { stdio: [fd, 'pipe', 'inherit'] });
    closeSync(fd);
    return outcome(child);
  },
  'a file handle': async (cp) => {
    const file = fresh();
    const handle = await open(file, 'w');
    const child = cp.spawn('echo', ['through a handle'], {
      stdio: ['ignore', handle as never, 'inherit'],
    });
    await settled(child);
    await handle.close();
    return readFileSync(file, 'utf8');
  },
  'stdout and stderr swapped': async (cp) => {
    const file = fresh();
    const fd = openSync(file, 'w');
    const child = cp.spawn('sh', ['-c', 'echo out; echo err >&2'], {
      stdio: ['ignore', 'pipe', fd],
    });
    closeSync(fd);
    return [await outcome(child), readFileSync(file, 'utf8')];
  },
  'a descriptor that is not open': (cp) =>
    attempt(() => cp.spawn('true', [], { stdio: ['pipe', 987, 'pipe'] })),
  'a socket': async (cp) => {
    const server = createServer((socket) => {
      const child = cp.spawn('echo', ['to a socket'], { stdio: ['ignore', socket, 'inherit'] });
      child.on('close', () => socket.destroy());
    });
    await once(server.listen(0), 'listening');
    const answer = await text(connect((server.address() as { port: number }).port));
    server.close();
    return answer;
  },
  "another child's output": async (cp) => {
    const first = cp.spawn('echo', ['through two']);
    const second = cp.spawn('tr', ['a-z', 'A-Z'], { stdio: [first.stdout, 'pipe', 'inherit'] });
    const seen = await outcome(second);
    return [seen, first.exitCode];
  },
  "another child's input": async (cp) => {
    const second = cp.spawn('cat');
    const first = cp.spawn('echo', ['backwards'], { stdio: ['ignore', second.stdin, 'inherit'] });
    await settled(first);
    second.stdin.end();
    return outcome(second);
  },
  'a stream without a handle': (cp) =>
    attempt(() => cp.spawn('true', [], { stdio: [new Socket(), 'pipe', 'pipe'] })),
  'stdin and stdout': async (cp) => {
    const child = cp.spawn('cat');
    child.stdin.write('one ');
    child.stdin.end('two');
    return outcome(child);
  },
  'writing before the child can read': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'sleep 0.1; cat']);
    child.stdin.end('early');
    return outcome(child);
  },
  'writing to a child that does not read': async (cp) => {
    const child = cp.spawn('true');
    await settled(child);
    const errors: unknown[] = [];
    child.stdin.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
    await new Promise((resolve) => child.stdin.write('late', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    return [errors, child.stdin.destroyed, child.stdin.writable];
  },
  'writing to a child that ends without reading': async (cp) => {
    const input = Buffer.alloc(2_000_000);
    const write = async () => {
      const child = cp.spawn('sleep', ['0.1']);
      const errors: unknown[] = [];
      child.stdin.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
      child.stdin.write(input);
      await settled(child);
      return errors;
    };
    return await Promise.all(Array.from({ length: 10 }, write));
  },
  'writing to a child that does not exist': async (cp) => {
    const child = cp.spawn('redline-no-such-program');
    const errors: unknown[] = [];
    child.on('error', () => {});
    child.stdin.on('error', (error: NodeJS.ErrnoException) => errors.push(error.syscall));
    child.stdin.write('x');
    await settled(child);
    return [child.stdin.destroyed, child.pid];
  },
  'closing the output': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'sleep 0.1; exec yes']);
    child.stdout.destroy();
    return [await outcome(child), child.stdout.destroyed];
  },
  // execa's `subprocess.duplex()` rejects with what the child has done only when stdin, the last, closes first.
  'streams that are destroyed together close from the last to the first': async (cp) => {
    const order: string[] = [];
    for (const names of [
      ['stdin', 'stdout', 'stderr'],
      ['stderr', 'stdout', 'stdin'],
    ] as const) {
      const child = cp.spawn('cat');
      for (const name of names) child[name].on('close', () => order.push(name));
      await once(child, 'spawn');
      for (const name of names) child[name].destroy();
      await settled(child);
      order.push(`${child.exitCode}`);
    }
    return order;
  },
  'streams are sockets': async (cp) => {
    const child = cp.spawn('cat');
    const facts = ([child.stdin, child.stdout, child.stderr] as unknown as Socket[]).map(
      (stream) => [
        stream instanceof Socket,
        stream.readable,
        stream.writable,
        stream.readableHighWaterMark,
        stream.readableFlowing,
        stream.destroyed,
        stream.allowHalfOpen,
        stream.pending,
        stream.connecting,
        stream.readyState,
      ],
    );
    child.stdin.end();
    await record(child);
    const after = ([child.stdin, child.stdout] as unknown as Socket[]).map((stream) => [
      stream.readable,
      stream.destroyed,
      stream.readableEnded,
      stream.bytesRead,
      stream.pending,
    ]);
    return [facts, after];
  },
  'an output with listeners that is iterated too': async (cp) => {
    const run = async (child: ChildProcess) => {
      const events: string[] = [];
      child.stdout!.on('data', () => {});
      for (const event of ['end', 'close']) child.stdout!.on(event, () => events.push(event));
      const closed = settled(child);
      for await (const _ of child.stdout!);
      events.push('iterated');
      await closed;
      return events;
    };
    return [await run(cp.spawn('sleep', ['0.1'])), await run(cp.execFile('sleep', ['0.1']))];
  },
  'the same stream each time': async (cp) => {
    const child = cp.spawn('true');
    const same = [
      child.stdout === child.stdout,
      child.stdio === child.stdio,
      child.stdio[0] === child.stdin,
      child.stdio[1] === child.stdout,
      child.stdio[2] === child.stderr,
    ];
    await record(child);
    return same;
  },
  setEncoding: async (cp) => {
    const child = cp.spawn('printf', ['ä€😀']);
    child.stdout.setEncoding('utf8');
    const chunks: string[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk);
    return [chunks.join(''), typeof chunks[0]];
  },
  'output nobody reads': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo unread; echo unread >&2']);
    const events: unknown[] = [];
    child.on('exit', (code) => events.push(['exit', code]));
    child.on('close', (code) => events.push(['close', code]));
    await settled(child);
    return [events, child.stdout.readableEnded, child.stdout.destroyed];
  },
  'much output nobody reads keeps the child from ending': async (cp) => {
    const child = cp.spawn('head', ['-c', '2000000', '/dev/zero']);
    let hasExited = false;
    child.on('exit', () => (hasExited = true));
    const { stdout } = child;
    await until('it is full', () => stdout.readableLength >= stdout.readableHighWaterMark);
    const before = hasExited;
    child.stdout.resume();
    await settled(child);
    return [before, hasExited];
  },
  'output paused and resumed': async (cp) => {
    const child = cp.spawn('head', ['-c', '1000000', '/dev/zero']);
    let length = 0;
    child.stdout.on('data', (chunk) => {
      length += chunk.length;
      child.stdout.pause();
      setTimeout(() => child.stdout.resume(), 1);
    });
    await settled(child);
    return length;
  },
  'reading by hand': async (cp) => {
    const child = cp.spawn('printf', ['abcdef']);
    await once(child.stdout, 'readable');
    const first = String(child.stdout.read(2));
    const rest = String(child.stdout.read());
    child.stdout.resume();
    await settled(child);
    return [first, rest];
  },
  'a grandchild that holds the output': async (cp) => {
    const child = cp.spawn('sh', ['-c', '(sleep 0.2; echo late) & echo early']);
    const order: string[] = [];
    child.stdout.on('data', (chunk) => order.push(String(chunk)));
    child.on('exit', () => order.push('exit'));
    child.on('close', () => order.push('close'));
    await settled(child);
    return order.filter((entry) => entry !== 'early\n');
  },
  'a grandchild that holds an output nobody reads': async (cp) => {
    const { fd, release } = latch();
    const script = '(read line <&3; echo late) &';
    const child = cp.spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', fd] });
    const order: string[] = [];
    child.on('exit', () => order.push('exit'));
    child.on('close', () => order.push('close'));
    await once(child, 'exit');
    await moment();
    order.push('released');
    release();
    await settled(child);
    return order;
  },
  'how much a pipe takes that is not read': async (cp) => {
    const taken: unknown[] = [];
    for (const index of [0, 3]) {
      const child = cp.spawn('sleep', ['20'], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
      const pipe = child.stdio[index] as Writable;
      pipe.on('error', () => {});
      for (const size of [100_000, 40_000, 40_000, 40_000]) {
        const isTaken = new Promise((resolve) => pipe.write(Buffer.alloc(size), resolve));
        taken.push(await Promise.race([isTaken.then(() => size), moment(50)]));
      }
      child.kill('SIGKILL');
      await settled(child);
    }
    return taken;
  },
  'a Duplex of both ends, and an abort': (cp) => {
    const controller = new AbortController();
    const child = cp.spawn('cat', { signal: controller.signal });
    return endsOfDuplex(child, () => controller.abort());
  },
  'a Duplex of both ends that is destroyed': (cp) =>
    endsOfDuplex(cp.spawn('cat'), (duplex) => void duplex.destroy()),
  'a stream in /dev': (cp) => outcome(cp.spawn('sh', ['-c', '[ -S /dev/stdout ] && echo socket'])),
};

async function endsOfDuplex(child: ChildProcess, end: (duplex: Duplex) => void): Promise<unknown> {
  child.on('error', () => {});
  const duplex = Duplex.from({ readable: child.stdout!, writable: child.stdin! });
  const closed = settled(child);
  const ends = [child.stdin!, child.stdout!, duplex].map((stream) =>
    finished(stream).then(
      () => 'finished',
      (error: NodeJS.ErrnoException) => error.code,
    ),
  );
  duplex.write('there and back');
  const [chunk] = await once(duplex, 'data');
  end(duplex);
  await closed;
  return [String(chunk), await Promise.all(ends), child.signalCode];
}

function shapeOf(streams: readonly unknown[] | undefined): unknown {
  return streams?.map(
    (stream) =>
      (stream as object | null)?.constructor.name.replace('OutputStream', 'Socket') ?? stream,
  );
}
