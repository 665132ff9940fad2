// `node perform.ts ENGINE FOLDER`: runs the programs that stdin holds as JSON, and prints what became of each.
import { createHash } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Readable, type Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child, Deed, Moment, Program } from './program.ts';

type Module = typeof import('node:child_process');
type Log = Record<string, unknown[]>;

/** A child that has not closed by then never does. */
const GIVE_UP_MS = 3500;
const EARLY_MS = 60;
const LATE_MS = 900;
const AFTER_EXIT_MS = 120;

const [engine, folder] = process.argv.slice(2) as [string, string];
const cp = (await import(engine)) as Module;
const programs = JSON.parse(await text(process.stdin)) as Program[];
let files = 0;

process.on('uncaughtException', (error) => current['uncaught']!.push(short(error)));
let current: Log = {};

for (const program of programs) {
  const log: Log = { uncaught: [] };
  current = log;
  const closed = program.children.map((child, index) => perform(child, `${index}`, log));
  if (program.isAlone) {
    setTimeout(() => {
      log['uncaught']!.push('never ended');
      process.exit();
    }, GIVE_UP_MS).unref();
    process.on('exit', () => tell(program, log));
  } else {
    const enough = new AbortController();
    await Promise.race([
      Promise.all(closed),
      sleep(GIVE_UP_MS, undefined, { signal: enough.signal }).catch(() => {}),
    ]);
    enough.abort();
    await sleep(30);
    tell(program, log);
  }
}

function tell(program: Program, log: Log): void {
  // The lists race with each other; each has its own order.
  const lists = Object.keys(log).sort();
  const sorted = Object.fromEntries(lists.map((name) => [name, log[name]]));
  writeSync(1, `${JSON.stringify([program.seed, sorted])}\n`);
}

async function perform(plan: Child, name: string, log: Log): Promise<void> {
  const events: unknown[] = (log[name] = []);
  const acts: unknown[] = (log[`${name} acts`] = []);
  const controller = new AbortController();
  let child: ChildProcess;
  try {
    child = start(plan, controller, events);
  } catch (error) {
    events.push(['thrown', short(error)]);
    return;
  }
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  for (const event of ['error', 'exit', 'close', 'disconnect', 'message'] as const) {
    child.on(event, (...args: unknown[]) =>
      events.push([event, ...args.filter((arg) => arg !== undefined).map(short)]),
    );
  }
  const isDone = { value: false };
  void closed.then(() => (isDone.value = true));
  if (plan.abort !== undefined) when(plan.abort, child, () => controller.abort(new Error('why')));
  for (const action of plan.actions) {
    when(action.at, child, () => {
      try {
        act(action.do, child, name, log, acts);
      } catch (error) {
        acts.push([action.do, 'threw', short(error)]);
      }
    });
  }
  await closed;
  await sleep(AFTER_EXIT_MS + 30);
  events.push([
    'state',
    child.exitCode,
    child.signalCode,
    child.killed,
    child.connected,
    typeof child.pid,
  ]);
  for (const [index, stream] of (child.stdio ?? []).entries()) {
    if (stream) (log[`${name} fd ${index}`] ??= []).push(['destroyed', stream.destroyed]);
  }
}

function start(plan: Child, { signal }: AbortController, events: unknown[]): ChildProcess {
  const file = { sh: 'sh', missing: 'redline-no-such-program', forbidden: '/etc/passwd' }[
    plan.program
  ];
  const script = plan.script.join('\n');
  const options = { ...plan.options, ...(plan.abort === undefined ? {} : { signal }) } as object;
  const collected = (error: Error | null, stdout: unknown, stderr: unknown) =>
    events.push(['called back', short(error), digest(stdout), digest(stderr)]);
  switch (plan.how) {
    case 'exec':
      return cp.exec(plan.program === 'sh' ? script : file, options, collected);
    case 'execFile':
      return cp.execFile(file, ['-c', script], options, collected);
    case 'ipc':
      return cp.spawn(file, ['-c', script], {
        ...options,
        stdio: [...entries(plan.stdio ?? ['pipe', 'pipe', 'pipe']), 'ipc'] as never,
      });
    case 'spawn':
      return plan.stdio === undefined
        ? cp.spawn(file, ['-c', script], options)
        : cp.spawn(file, ['-c', script], { ...options, stdio: entries(plan.stdio) as never });
  }
}

function entries(stdio: readonly string[]): unknown[] {
  return stdio.map((entry) =>
    entry === 'file' ? openSync(join(folder, `file-${files++}`), 'a+') : entry,
  );
}

function when(at: Moment, child: ChildProcess, run: () => void): void {
  switch (at) {
    case 'now':
      run();
      return;
    case 'tick':
      process.nextTick(run);
      return;
    case 'immediate':
      setImmediate(run);
      return;
    case 'spawn':
      child.once('spawn', run);
      return;
    case 'early':
      setTimeout(run, EARLY_MS);
      return;
    case 'late':
      setTimeout(run, LATE_MS);
      return;
    case 'exit':
      child.once('exit', run);
      return;
    case 'after exit':
      child.once('exit', () => setTimeout(run, AFTER_EXIT_MS));
      return;
  }
}

function act(deed: Deed, child: ChildProcess, name: string, log: Log, acts: unknown[]): void {
  // Only what the deed is about: when a stream is first looked at is a part of the program.
  const stdin = /stdin|^write( much)?$/.test(deed) ? child.stdin : null;
  const stdout = /stdout|read all|by hand|pipe on/.test(deed) ? child.stdout : null;
  const stderr = /stderr|read all/.test(deed) ? child.stderr : null;
  const three = /three/.test(deed) ? (child.stdio?.[3] as Duplex | null | undefined) : null;
  const note = (fact: unknown) => acts.push([deed, fact]);
  for (const [index, stream] of [stdin, stdout, stderr, three].entries()) {
    // Whoever uses a stream listens for its errors.
    if (stream && !deed.startsWith('look') && !stream.listenerCount('error')) {
      stream.on('error', (error) => streamLog(log, name, index).push(['error', short(error)]));
    }
  }
  switch (deed) {
    case 'kill':
      note(child.kill());
      return;
    case 'kill 0':
      note(child.kill(0));
      return;
    case 'kill SIGKILL':
      note(child.kill('SIGKILL'));
      return;
    case 'kill nothing':
      note(child.kill('SIGNOTHING' as never));
      return;
    case 'write':
      stdin?.write('line\n', (error) => note(error ? 'failed' : 'written'));
      return;
    case 'write much':
      stdin?.write(Buffer.alloc(400_000, 'y'));
      return;
    case 'end stdin':
      stdin?.end();
      return;
    case 'end stdin with data':
      stdin?.end('last\n');
      return;
    case 'destroy stdin':
      stdin?.destroy();
      return;
    case 'destroy stdout':
      stdout?.destroy();
      return;
    case 'destroy stderr':
      stderr?.destroy();
      return;
    case 'destroy stdout with an error':
      stdout?.destroy(new Error('broken'));
      return;
    case 'read stdout':
      read(stdout, 1, name, log);
      return;
    case 'read stderr':
      read(stderr, 2, name, log);
      return;
    case 'read all':
      read(stdout, 1, name, log);
      read(stderr, 2, name, log);
      return;
    case 'look at stdout':
      note(stdout === null ? null : typeof stdout);
      return;
    case 'look at all':
      note(child.stdio?.map((stream) => stream?.constructor.name ?? null));
      return;
    case 'iterate stdout':
      if (stdout) void iterate(stdout, streamLog(log, name, 1));
      return;
    case 'read by hand':
      stdout?.on('readable', () => {
        let chunk: Buffer | null;
        const bytes = bytesOf(log, name, 1);
        while ((chunk = stdout.read() as Buffer | null) !== null) bytes.push(Buffer.from(chunk));
      });
      return;
    case 'pause stdout':
      stdout?.pause();
      return;
    case 'resume stdout':
      stdout?.resume();
      return;
    case 'encode stdout':
      stdout?.setEncoding('latin1');
      return;
    case 'unref':
      child.unref();
      return;
    case 'ref':
      child.ref();
      return;
    case 'unref all':
      child.unref();
      for (const stream of child.stdio ?? []) (stream as { unref?(): void } | null)?.unref?.();
      return;
    case 'pid':
      note(typeof child.pid);
      return;
    case 'write three':
      three?.write('three\n');
      return;
    case 'end three':
      three?.end('three\n');
      return;
    case 'read three':
      read(three ?? null, 3, name, log);
      return;
    case 'destroy three':
      three?.destroy();
      return;
    case 'send':
      if (child.send) note(child.connected && child.send('hello', () => {}) !== undefined);
      return;
    case 'disconnect':
      if (child.connected) child.disconnect();
      return;
    case 'pipe on':
      if (stdout) {
        const next = cp.spawn('cat', { stdio: [stdout, 'pipe', 'ignore'] });
        read(next.stdout, 9, name, log);
      }
      return;
    case 'pipe stdin':
      if (stdin) Readable.from(['a\n', 'b\n']).pipe(stdin);
      return;
    case 'remove listeners':
      child.removeAllListeners('exit');
      return;
    case 'dispose':
      child[Symbol.dispose]();
      return;
  }
}

function streamLog(log: Log, name: string, index: number): unknown[] {
  return (log[`${name} fd ${index}`] ??= []);
}

function read(stream: Readable | null, index: number, name: string, log: Log): void {
  if (stream === null) return;
  const events = streamLog(log, name, index);
  const bytes = bytesOf(log, name, index);
  stream.on('data', (chunk: Buffer | string) => bytes.push(Buffer.from(chunk as string, 'latin1')));
  stream.on('end', () => events.push('end'));
  stream.on('close', () => events.push('close'));
}

/** Bytes, shown by their digest when the log is told. */
function bytesOf(log: Log, name: string, index: number): Buffer[] {
  const chunks: Buffer[] = [];
  streamLog(log, name, index).push({ toJSON: () => digest(Buffer.concat(chunks)) });
  return chunks;
}

async function iterate(stream: Readable, events: unknown[]): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of stream) length += chunk.length;
    events.push(['iterated', length]);
  } catch (error) {
    events.push(['iterated', length, short(error)]);
  }
}

function digest(output: unknown): string {
  const bytes = Buffer.from(output as string);
  if (bytes.length < 100) return bytes.toString('latin1');
  return `${bytes.length} bytes, ${createHash('md5').update(bytes).digest('hex')}`;
}

function short(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, code, syscall, path, killed, signal, cmd, message } = value as Error &
    Record<string, unknown>;
  const cause = value.cause instanceof Error ? value.cause.message : undefined;
  return { name, code, syscall, path, killed, signal, cmd, message: message.split('\n')[0], cause };
}
