import type { ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { PassThrough, Readable, pipeline } from 'node:stream';
import {
  blockUntilEnded,
  moment,
  settled,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

/** What a parent does with a child's output before another child gets it, and how it notes what it reads. */
type Use = (output: Readable, note: (chunk: unknown) => void) => unknown;

const uses: Record<string, Use> = {
  nothing: () => {},
  iterated: (output, note) => iterate(output, note),
  'iterated by hand': (output, note) => output[Symbol.asyncIterator]().next().then(note),
  'iterated without the end of the stream': (output, note) =>
    iterate(output.iterator({ destroyOnReturn: false }), note),
  'collected into an array': (output, note) => output.toArray().then(note),
  mapped: (output, note) => iterate(output.map(String), note),
  read: (output, note) => note(output.read()),
  'read for nothing': (output, note) => note(output.read(0)),
  'listened to for data': (output, note) => output.on('data', note),
  'listened to once': (output, note) => output.once('data', note),
  'listened to for what is readable': (output, note) =>
    output.on('readable', () => note(output.read())),
  'listened to with events.on': (output, note) => iterate(on(output, 'data'), note),
  'listened to with events.once': (output, note) => once(output, 'data').then(note),
  piped: (output, note) => output.pipe(new PassThrough()).on('data', note),
  'in a pipeline': (output, note) => pipeline(output, new PassThrough(), () => {}).on('data', note),
  resumed: (output) => output.resume(),
  paused: (output, note) => output.on('data', note).pause(),
  'given an encoding': (output, note) => output.setEncoding('latin1').on('data', note),
  'a stream of the web': (output, note) => iterate(Readable.toWeb(output) as never, note),
};

/** When the other child gets it. */
const moments: Record<string, () => unknown> = {
  'at once': () => undefined,
  'on the next tick': () => new Promise<void>((resolve) => process.nextTick(resolve)),
  'in the next turn of the loop': () => new Promise((resolve) => setImmediate(resolve)),
  later: () => moment(),
};

export const handedOver: Behaviours = {
  'the output of an exec that ended while the program was busy, handed to another child': async (
    cp: ChildProcessModule,
  ) => {
    const child = cp.exec('true', () => {});
    blockUntilEnded(child);
    const other = cp.spawn('cat', { stdio: [child.stdout, 'pipe', 'inherit'] }) as ChildProcess;
    let left = '';
    other.stdout!.on('data', (chunk) => (left += String(chunk)));
    await Promise.all([once(other, 'close'), settled(child)]);
    return [left, other.exitCode];
  },
  ...Object.fromEntries(
    Object.entries(uses).map(([name, use]) => [
      `an output that is ${name} and handed to another child`,
      (cp: ChildProcessModule) =>
        Promise.all(
          Object.entries(moments).map(async ([when, wait]) => [
            when,
            await handOver(cp, use, wait),
          ]),
        ),
    ]),
  ),
};

/** Who reads what the child prints from then on: the parent, which can have all of it, or else the other child. */
async function handOver(
  cp: ChildProcessModule,
  use: Use,
  wait: () => unknown,
): Promise<Record<string, unknown>> {
  const child = cp.spawn('sh', ['-c', 'read line; printf "one\\ntwo\\n"']);
  const seen: unknown[] = [];
  const used = (async () => use(child.stdout, (chunk) => seen.push(plain(chunk))))();
  used.catch(() => {});
  const waiting = wait();
  if (waiting !== undefined) await waiting;
  const other = cp.spawn('sh', ['-c', 'read line <&3; cat'], {
    stdio: [child.stdout, 'pipe', 'inherit', 'pipe'],
  }) as unknown as ChildProcess;
  child.stdin.end('go\n');
  await once(child, 'exit');
  await moment();
  let left = '';
  other.stdout!.on('data', (chunk) => (left += String(chunk)));
  (other.stdio[3] as unknown as { end(text: string): void }).end('go\n');
  await once(other, 'close');
  const { destroyed, readableFlowing } = child.stdout;
  child.stdout.on('error', () => {}).destroy();
  return { seen, left, destroyed, readableFlowing };
}

async function iterate(
  chunks: AsyncIterable<unknown>,
  note: (chunk: unknown) => void,
): Promise<void> {
  for await (const chunk of chunks) note(chunk);
}

/** As text, since who reads two lines at once and who reads them one by one is chance. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
}
