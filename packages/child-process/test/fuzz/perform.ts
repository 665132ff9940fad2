// `node perform.ts ENGINE FOLDER [busy]`: runs the programs that stdin holds as JSON, and prints what became of each.
import type { ChildProcess } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { act } from './act.ts';
import { short, type Log } from './log.ts';
import type { Child, Moment, Program } from './program.ts';
import { isQuiet } from './quiet.ts';
import { collectedBytes, digest, streamLog } from './reading.ts';

type Module = typeof import('node:child_process');

/** What a program does to itself is done by then: a `timeout`, the last action. What its children do may take longer. */
const SETTLED_MS = 2600;
/** A machine that has not got it done by then is too slow to say anything. */
const GIVE_UP_MS = 30_000;
const LOOK_MS = 150;
const EARLY_MS = 60;
const LATE_MS = 900;
const AFTER_EXIT_MS = 120;
/** What follows 'close'. */
const REST_MS = 50;
/** The end of a child and that of its output are some 0.1 ms apart, and more on a busy machine. */
const BUSY_MS = 20;
/** `maxBuffer` of those that have none. */
const MOST_BY_DEFAULT = 1024 * 1024;

const [engine, folder, loop] = process.argv.slice(2) as [string, string, string?];
const cp = (await import(engine)) as Module;
const programs = JSON.parse(await text(process.stdin)) as Program[];
let files = 0;

process.on('uncaughtException', (error) => current['uncaught']!.push(short(error)));
let current: Log = {};

/** A child under way. */
interface Performance {
  readonly pid: () => number | undefined;
  readonly closed: Promise<void>;
  /** The actions whose time has not come, and other children they started. */
  readonly pending: Set<unknown>;
  /** Notes how the child and its streams are left. */
  readonly finish: () => void;
}

if (loop === 'busy') setInterval(block, BUSY_MS / 4).unref();

const isAlone = programs.some((program) => program.isAlone);
// Of programs that do not run alone, it does not matter what keeps the process.
if (!isAlone) setInterval(() => {}, GIVE_UP_MS);

for (const program of programs) {
  const log: Log = { uncaught: [] };
  current = log;
  const performances = program.children.map((child, index) => perform(child, `${index}`, log));
  const over = watch(performances, log);
  if (isAlone) {
    let ending: string | undefined = 'ended';
    void over.then((isOver) => {
      ending = isOver ? 'never ended' : undefined;
      process.exit();
    });
    process.on('exit', () => {
      if (ending === 'never ended') log['uncaught']!.push(ending);
      tell(program, performances, ending === undefined ? undefined : log);
    });
  } else {
    const closed = Promise.all(performances.map((one) => one.closed)).then(async () => {
      while (performances.some(({ pending }) => pending.size > 0)) await sleep(REST_MS);
      return true;
    });
    const isOver = await Promise.race([closed, over]);
    await sleep(REST_MS);
    tell(program, performances, isOver ? log : undefined);
  }
}
// Children that never close would keep it.
if (!isAlone) process.exit();

/** Waits, without keeping the process, until nothing can happen any more. Whether that was to be seen. */
async function watch(performances: readonly Performance[], log: Log): Promise<boolean> {
  const end = performance.now() + GIVE_UP_MS;
  await sleep(SETTLED_MS, undefined, { ref: false });
  let before = '';
  while (performance.now() < end) {
    const leaders = performances.map(({ pid }) => pid() ?? 0);
    const now = isQuiet(leaders) ? JSON.stringify(log) : '';
    if (now !== '' && now === before) return true;
    before = now;
    await sleep(LOOK_MS, undefined, { ref: false });
  }
  return false;
}

/** Without a log, there was no time to see what becomes of it. */
function tell({ seed }: Program, performances: readonly Performance[], log: Log | undefined): void {
  for (const { finish } of performances) finish();
  const lists = Object.entries(log ?? {}).map(([name, list]) => [name, JSON.stringify(list)]);
  writeSync(1, `${JSON.stringify([seed, log && Object.fromEntries(lists)])}\n`);
}

function perform(plan: Child, name: string, log: Log): Performance {
  const events: unknown[] = (log[name] = []);
  const acts: unknown[] = (log[`${name} acts`] = []);
  const pending = new Set<unknown>();
  const isCollected = plan.how === 'exec' || plan.how === 'execFile';
  const controller = new AbortController();
  let child: ChildProcess;
  try {
    child = start(plan, controller, events);
  } catch (error) {
    events.push(['thrown', short(error)]);
    return { pid: () => undefined, closed: Promise.resolve(), pending, finish() {} };
  }
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  for (const event of ['error', 'exit', 'close', 'disconnect', 'message'] as const) {
    child.on(event, (...args: unknown[]) =>
      events.push([event, ...args.filter((arg) => arg !== undefined).map(short)]),
    );
  }
  const moments = new Set(plan.actions.map(({ at }) => at));
  const isSpawnAwaited = moments.has('spawn');
  const scene = { cp, child, name, log, acts, isCollected, isSpawnAwaited, pending };
  const when = (at: Moment, run: () => void) => {
    const now = () => schedule(at, child, pending, run);
    // "spawn" comes when the program runs, some time after Node's: what differs. The order of deeds is to be the same.
    if (isSpawnAwaited && (at === 'tick' || at === 'immediate')) whenSettled(child, now);
    else now();
  };
  if (plan.abort !== undefined) when(plan.abort, () => controller.abort(new Error('why')));
  for (const action of plan.actions) {
    when(action.at, () => {
      try {
        act(scene, action.do);
      } catch (error) {
        acts.push([action.do, 'threw', short(error)]);
      }
    });
  }
  const finish = () => {
    const { exitCode, signalCode, killed, connected } = child;
    events.push(['state', exitCode, signalCode, killed, connected, typeof child.pid]);
    if (events.some(saidTooMuch)) forgetHowItEnded(events);
    for (const [index, stream] of (child.stdio ?? []).entries()) {
      if (stream) streamLog(log, name, index).push(['destroyed', stream.destroyed]);
    }
  };
  return { pid: () => child.pid, closed, pending, finish };
}

function saidTooMuch(event: unknown): boolean {
  const [what, error] = event as [string, { code?: string } | null];
  return what === 'called back' && error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
}

/**
 * Node counts bytes and cuts characters, and a byte in hex is two of them: how much is left beyond `maxBuffer` characters
 * depends on where the last chunk began, which is chance.
 */
function firstOf(output: unknown, { options: { encoding, maxBuffer } }: Child): unknown {
  return encoding === 'hex'
    ? (output as string).slice(0, (maxBuffer ?? MOST_BY_DEFAULT) as number)
    : output;
}

/** It is killed when it may be about to end by itself: which comes first is chance. */
function forgetHowItEnded(events: unknown[]): void {
  for (const [at, event] of events.entries()) {
    const [what, code, signal, ...rest] = event as [string, ...unknown[]];
    const isEnd = what === 'exit' || what === 'close' || what === 'state';
    if (isEnd && (code !== null || signal !== null))
      events[at] = [what, 'ended or killed', ...rest];
  }
}

function start(plan: Child, { signal }: AbortController, events: unknown[]): ChildProcess {
  const file = { sh: 'sh', missing: 'redline-no-such-program', forbidden: '/etc/passwd' }[
    plan.program
  ];
  const script = plan.script.join('\n');
  const options = { ...plan.options, ...(plan.abort === undefined ? {} : { signal }) } as object;
  let child: ChildProcess;
  const collected = (error: Error | null, ...outputs: unknown[]) => {
    const isCut = saidTooMuch(['called back', error]);
    const shown: unknown[] = outputs.map((output) =>
      digest(isCut ? firstOf(output, plan) : output),
    );
    // Accessed by then: a first access would be a part of the program.
    if (plan.actions.some((action) => action.do === 'pipe on') && child.stdout) {
      const { length } = outputs[0] as string | Buffer;
      shown[0] = collectedBytes(child.stdout, length, shown[0] as string);
    }
    events.push(['called back', short(error), ...shown]);
  };
  switch (plan.how) {
    case 'exec':
      return (child = cp.exec(plan.program === 'sh' ? script : file, options, collected));
    case 'execFile':
      return (child = cp.execFile(file, ['-c', script], options, collected));
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

function block(): void {
  const end = performance.now() + BUSY_MS;
  while (performance.now() < end);
}

/** Once the child runs or has failed. */
function whenSettled(child: ChildProcess, run: () => void): void {
  const settle = (): void => {
    child.off('spawn', settle).off('error', settle);
    run();
  };
  child.on('spawn', settle).on('error', settle);
}

function schedule(at: Moment, child: ChildProcess, pending: Set<unknown>, run: () => void): void {
  const later = (ms: number) => {
    const timer = setTimeout(() => {
      pending.delete(timer);
      run();
    }, ms);
    pending.add(timer);
  };
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
      later(EARLY_MS);
      return;
    case 'late':
      later(LATE_MS);
      return;
    case 'exit':
      child.once('exit', run);
      return;
    case 'after exit':
      child.once('exit', () => later(AFTER_EXIT_MS));
      return;
  }
}
