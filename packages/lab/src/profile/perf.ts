import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { MachineFacts } from '../figures.ts';
import { readThreadTimes, type ThreadTimes, threadTimesBetween } from '../system/cpu-clock.ts';
import {
  addSample,
  type CallTree,
  emptyTree,
  finishTree,
  type Frame,
  type Step,
} from './call-tree.ts';
import { inspectNode, type NodeFacts, withNodeFlags } from './instrument.ts';
import { ownerOfUrl } from './owner.ts';
import type { ProfiledThread } from './profiled-thread.ts';
import { regExpName } from './reg-exp-names.ts';
import {
  type LoadFigures,
  type RecordOptions,
  runMeasuredLoad,
  serve,
  warmUp,
  warningsOf,
} from './serve.ts';
import { shareOf } from './serving-thread.ts';
import { tierOfMark } from './tiers.ts';
import { parseDescription } from './v8/v8-log.ts';
import { startChild } from '../system/guardian.ts';

const run = promisify(execFile);

export interface PerfRecording {
  tree: CallTree;
  node: NodeFacts;
  load: LoadFigures;
  /** Undefined if the server is one process. */
  profiled: ProfiledThread | undefined;
  machine: MachineFacts;
  warnings: string[];
}

/**
 * Profiles a variant with Linux perf, including native frames and the kernel.
 * @throws {LabError} ERR_REDLINE_PROFILE when perf is missing or not permitted, and the errors of `serve`
 */
export async function recordWithPerf(
  plan: Plan,
  variant: PlannedVariant,
  options: RecordOptions,
): Promise<PerfRecording> {
  await requirePerf();
  const node = await inspectNode(variant);
  const flags = ['--perf-basic-prof', '--interpreted-frames-native-stack'];
  const inFolder = (): PlannedVariant => withNodeFlags(variant, flags);
  return serve({ plan, variant, inFolder }, options, async (served) => {
    const { server, folder, machine } = served;
    let pid = server.pid;
    try {
      const before = readThreadTimes(server.pid);
      await warmUp(served, options);
      pid = busiestProcess(server.pid, threadTimesBetween(before, readThreadTimes(server.pid)));
      options.phase('profiling with perf');
      const file = join(folder, 'perf.data');
      const perf = await startPerf(pid, file, options);
      const { durationMs, signal } = options;
      const load = await runMeasuredLoad(served, {
        durationMs,
        signal,
        threads: [{ pid, tid: pid }],
      });
      await perf.stop();
      options.phase('reading the samples of perf');
      const tree = await readSamples(file, pid, load.seconds);
      if (tree.samples === 0) {
        throw new LabError(
          'ERR_REDLINE_PROFILE',
          `perf took no sample of "${variant.name}": the profile is empty.`,
        );
      }
      const share = shareOf({ pid, tid: pid }, load.spent);
      const { size: processes } = load.spent;
      return {
        tree,
        node,
        load,
        profiled:
          processes > 1
            ? { kind: 'process', pid, processes, threads: processes, share }
            : undefined,
        machine,
        warnings: [
          ...warningsOf(load),
          ...(processes === 1 && share < minMainShare
            ? [
                `The main thread used ${Math.round(share * 100)} % of the server’s CPU: other threads used the rest, and --perf does not show them. Without --perf the busiest thread that runs JavaScript is profiled.`,
              ]
            : []),
        ],
      };
    } finally {
      await rm(`/tmp/perf-${pid}.map`, { force: true });
    }
  });
}

/** With a smaller share, the profile misses most of the time. */
const minMainShare = 0.5;

function busiestProcess(serverPid: number, spent: ThreadTimes): number {
  let [busiest, max] = [serverPid, 0];
  for (const [pid, threads] of spent) {
    const micros = [...threads.values()].reduce((sum, each) => sum + each, 0);
    if (micros > max) [busiest, max] = [pid, micros];
  }
  return busiest;
}

async function requirePerf(): Promise<void> {
  try {
    await run('perf', ['--version']);
  } catch (cause) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      'Linux perf is not on PATH; install it (linux-perf, linux-tools) or omit --perf.',
      { cause },
    );
  }
}

async function startPerf(
  pid: number,
  file: string,
  { samplingMicros, signal }: RecordOptions,
): Promise<{ stop: () => Promise<void> }> {
  const rate = Math.max(1, Math.round(1e6 / samplingMicros) - 1);
  const args = ['record', '-F', String(rate), '-g', '-o', file, '-p', String(pid)];
  const child = startChild((mark) =>
    spawn('perf', args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
      env: { ...process.env, ...mark },
    }),
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const closed = once(child, 'close');
  const abort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  return {
    async stop() {
      signal.removeEventListener('abort', abort);
      const endedByItself = child.exitCode !== null;
      child.kill('SIGINT');
      await closed;
      if (!endedByItself) return;
      const reason = said.trim().split('\n', 1)[0] ?? '';
      throw new LabError(
        'ERR_REDLINE_PROFILE',
        `perf could not watch the server (${reason}); the kernel may forbid it: see kernel.perf_event_paranoid.`,
      );
    },
  };
}

/** Frames below the event loop are the same in every stack. */
const loopFrame = /^uv_run\b/;

async function readSamples(file: string, pid: number, seconds: number): Promise<CallTree> {
  const tree = emptyTree(seconds);
  const child = spawn('perf', ['script', '-i', file, '-F', 'pid,tid,ip,sym,dso', '--no-inline'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let steps: Step[] | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.trim() === '') {
      if (steps !== undefined && steps.length > 0) addSample(tree, steps.toReversed());
      steps = undefined;
    } else if (/^\s*\d+\/\d+/.test(line)) {
      const [process, thread] = line.trim().split(/[/\s]/).map(Number);
      steps = process === pid && thread === pid ? [] : undefined;
    } else if (steps !== undefined) {
      const step = parseFrame(line);
      if (step === 'loop') {
        addSample(tree, steps.toReversed());
        steps = undefined;
      } else if (step !== undefined) steps.push(step);
    }
  }
  if (steps !== undefined && steps.length > 0) addSample(tree, steps.toReversed());
  return finishTree(tree);
}

/**
 * Parses one line of `perf script`: address, symbol and origin. Returns `loop` for the event loop itself; undefined for frames that
 * only lead into JavaScript.
 */
export function parseFrame(line: string): Step | 'loop' | undefined {
  const found = /^\s*[0-9a-f]+ (.+) \((.*?)\)$/.exec(line);
  if (found === null) return undefined;
  const [, symbol, from] = found;
  if (loopFrame.test(symbol!)) return 'loop';
  const compiled = /^(?:JS|LazyCompile|Function|Script|Eval):([~^+*-]?)\W?(.*)$/.exec(symbol!);
  if (compiled !== null) {
    const [, mark, described] = compiled;
    const { name, place } = parseDescription(described!);
    const frame = { name: name || '(anonymous)', ...place, owner: ownerOfUrl(place.url) };
    return { frame, tier: tierOfMark(mark!) };
  }
  // The mark of a compiled expression tells the width of the characters it reads.
  const [, source] = /^RegExp\.[<>] src: '(.*)' flags: '\w*'$/.exec(symbol!) ?? [];
  if (source !== undefined) {
    const name = regExpName(source);
    return { frame: { name, url: '', line: 0, column: 0, owner: 'v8' }, tier: undefined };
  }
  if (
    /^Builtins_(JSEntry|InterpreterEntry|JSRun|CallFunction|Call_|ArgumentsAdaptor)/.test(symbol!)
  ) {
    return undefined;
  }
  return { frame: nativeFrame(symbol!, from!), tier: undefined };
}

/** Describes a native frame. V8's own code is V8's; all other native code, the kernel included, works for Node. */
function nativeFrame(symbol: string, from: string): Frame {
  const isKernel = from.includes('kernel');
  const isV8 =
    symbol.startsWith('Builtins_') || /(^|\W)v8::/.test(symbol) || symbol.startsWith('Bytecode');
  const plain = symbol.replace(/^Builtins_/, '').replace(/\+0x[0-9a-f]+$/, '');
  const name =
    plain === '[unknown]' ? '(native)' : plain.length > 80 ? `${plain.slice(0, 79)}…` : plain;
  return {
    name: isKernel ? `${name} (kernel)` : name,
    url: '',
    line: 0,
    column: 0,
    owner: isV8 ? 'v8' : 'core',
  };
}
