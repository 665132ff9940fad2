import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { latch, moment, settled, type Behaviours, type ChildProcessModule } from './trace.ts';

type Use = (stream: Socket) => unknown;

/** Uses of an output by a program. */
const uses: Record<string, Use> = {
  accessed: () => undefined,
  resumed: (stream) => stream.resume(),
  paused: (stream) => stream.pause(),
  'listened to': (stream) => stream.on('data', () => {}),
  decoded: (stream) => stream.setEncoding('utf8').on('data', () => {}),
  'read in part': (stream) => stream.once('readable', () => stream.read(2)),
  destroyed: (stream) => stream.destroy(),
  'destroyed at its first bytes': (stream) =>
    stream.once('data', (bytes: Buffer) => {
      // The number of bytes that come first differs, if there are many.
      if (bytes.length < 100) stream.destroy();
    }),
  'destroyed with an error': (stream) => stream.on('error', () => {}).destroy(new Error('broken')),
};

/** Scripts of children, and the bytes that they print on each output. */
const prints: Record<string, readonly [script: string, bytes: number]> = {
  'no byte': [':', 0],
  'a few bytes': ['echo out; echo err >&2', 4],
  'many bytes': ['head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2', 100_000],
};

/** Every public property of the sockets of a child, before and after its end, by what was done with them. */
export const socketFacts: Behaviours = {
  ...Object.fromEntries(
    Object.entries(prints).flatMap(([what, [script, bytes]]) => [
      [
        `sockets of a child that prints ${what}, first accessed after the close`,
        (cp: ChildProcessModule) => firstAccessedAfterClose(cp, script),
      ],
      [
        `sockets of a child that prints ${what}, first accessed in the listener of the close`,
        async (cp: ChildProcessModule) => {
          const child = start(cp, script);
          const closed = new Promise((resolve) => child.on('close', () => resolve(facts(child))));
          child.stdin!.end();
          return await closed;
        },
      ],
      ...Object.entries(uses).map(([use, act]) => [
        `sockets of a child that prints ${what}, with its outputs ${use}`,
        (cp: ChildProcessModule) => factsAlong(start(cp, script), act, bytes),
      ]),
    ]),
  ),
  'sockets of a collected child, first accessed after the close': async (cp) => {
    const seen: unknown[] = [];
    for (const [script] of Object.values(prints)) {
      const child = cp.execFile('sh', ['-c', script]);
      await settled(child);
      seen.push(facts(child));
    }
    return seen;
  },
  'an output that has ended, first accessed while another process holds the other one': async (
    cp,
  ) => {
    const seen: unknown[] = [];
    for (const mayLookBefore of [true, false]) {
      const { child, release } = await heldAfterExit(cp);
      if (mayLookBefore) seen.push(factsOf(child.stdout), factsOf(child.stderr));
      release();
      await settled(child);
      seen.push(facts(child));
    }
    return seen;
  },
};

async function firstAccessedAfterClose(cp: ChildProcessModule, script: string): Promise<unknown> {
  const child = start(cp, script);
  child.stdin!.end();
  await settled(child);
  return facts(child);
}

/** Starts a child that prints and then waits for the end of its stdin. */
function start(cp: ChildProcessModule, script: string): ChildProcess {
  return cp.spawn('sh', ['-c', `${script}; read line`]);
}

async function factsAlong(child: ChildProcess, act: Use, bytes: number): Promise<unknown> {
  const outputs = [child.stdout, child.stderr] as unknown as Socket[];
  for (const output of outputs) act(output);
  const seen: unknown[] = [outputs.map(factsOf)];
  const hasPrinted = ({ bytesRead, destroyed }: Socket): boolean =>
    destroyed || bytesRead >= Math.min(bytes, 1);
  do await moment();
  while (!outputs.every(hasPrinted));
  // The number of bytes that are read ahead differs, if there are many.
  if (bytes < 100) {
    seen.push(outputs.map(factsOf));
    child.on('exit', () => seen.push(outputs.map(factsOf)));
  }
  child.on('close', () => seen.push(facts(child)));
  child.stdin!.end();
  await settled(child);
  return [...seen, facts(child)];
}

/** A child that has exited and closed its stdout; a process of its own holds the stderr until it is released. */
async function heldAfterExit(
  cp: ChildProcessModule,
): Promise<{ child: ChildProcess; release: () => void }> {
  const { fd, release } = latch();
  const script = 'echo out; echo err >&2; exec >&-; (read line <&3; echo later >&2) & exit 0';
  const child = cp.spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', fd] });
  await once(child, 'exit');
  for (let turn = 0; turn < 5; turn++) await moment();
  return { child, release };
}

function facts(child: ChildProcess): unknown {
  return child.stdio.slice(0, 3).map((stream) => factsOf(stream as Socket));
}

const names = publicNames();

function factsOf(stream: unknown): Record<string, unknown> {
  const values = stream as Record<string, unknown>;
  return Object.fromEntries(
    names
      .map((name) => [name, plain(values[name])])
      .filter(([, value]) => typeof value !== 'function'),
  );
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'object' && value !== null ? 'object' : value;
}

/** Names of the properties of Node's own sockets, methods included. */
function publicNames(): string[] {
  const found = new Set<string>();
  let holder: object = new Socket();
  while (holder !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(holder)) found.add(name);
    holder = Object.getPrototypeOf(holder) as object;
  }
  return [...found].filter((name) => !name.startsWith('_')).toSorted();
}
