import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { CallRecorder } from '../../calls-out/preload/recorder.ts';
import { type CrashReport, type FromServer, type ToServer, watched, whole } from './protocol.ts';
import type { Recorder } from './recorder.ts';
import { hasThreadClock, rotate } from './rotation.ts';
import { cutException, type StairsState, WaitingMarks } from './state.ts';

/** Opens the connection to the runner: the runner sends commands, and this process measures itself. */
export function openControl(state: StairsState, recorder: Recorder, calls: CallRecorder): void {
  const { controlPort } = state.settings;
  const socket = connect(controlPort, '127.0.0.1');
  socket.unref();
  // The runner has ended: this server will be ended too.
  socket.on('error', () => {});
  const say = (message: FromServer): void => void socket.write(`${JSON.stringify(message)}\n`);
  say({ type: 'hello', pid: process.pid, node: process.version, hasThreadClock });
  calls.stage = () => state.marks?.latest;
  listen(socket, { state, recorder, calls }, say);
}

function listen(
  socket: Socket,
  { state, recorder, calls }: { state: StairsState; recorder: Recorder; calls: CallRecorder },
  say: (message: FromServer) => void,
): void {
  const lines = createInterface({ input: socket });
  // readline forwards the socket's errors.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    const asked = JSON.parse(line) as ToServer;
    if (asked.type === 'trace') {
      recorder.start();
      say({ type: 'tracing' });
    } else if (asked.type === 'report') {
      say({ type: 'trace', trace: recorder.report() });
    } else if (asked.type === 'watch') {
      state.marks = new WaitingMarks();
      state.k = watched;
      calls.start();
      say({ type: 'watching' });
    } else if (asked.type === 'marks') {
      state.k = whole;
      say({ type: 'marks', marks: state.marks?.all() ?? [], requests: calls.take() });
      state.marks = undefined;
    } else if (asked.type === 'unwatch') {
      calls.stop();
    } else if (asked.type === 'hold') {
      state.k = asked.cut;
      say({ type: 'held', stubs: state.stubs, requests: state.requests });
    } else {
      void rotate(state, asked.rounds, asked, (slices) => say({ type: 'round', slices })).then(() =>
        say({ type: 'done' }),
      );
    }
  });
}

/**
 * Ignores rejections of ended requests: work that the app started without awaiting it ends with its request, which is not an error
 * of the app.
 */
export function ignoreCutRejections(): void {
  const emit = process.emit as (this: NodeJS.Process, event: string, ...args: unknown[]) => boolean;
  process.emit = function (this: NodeJS.Process, event: string, ...args: unknown[]): boolean {
    if (event === 'unhandledRejection' && args[0] === cutException) return true;
    return emit.call(this, event, ...args);
  } as typeof process.emit;
}

/** Reports a crash with its cut: a cut can leave the app in a state that never occurs otherwise. */
export function reportCrashes(state: StairsState): void {
  const write = (message: string): void => {
    const report: CrashReport = { cut: state.k, message };
    writeFileSync(state.settings.crashFile, JSON.stringify(report));
  };
  let isReported = false;
  process.on('uncaughtExceptionMonitor', (error) => {
    if (error === cutException) return;
    isReported = true;
    write(
      String((error as Error | undefined)?.stack ?? error)
        .split('\n')
        .slice(0, 3)
        .join('\n'),
    );
  });
  process.on('exit', (code) => {
    if (code !== 0 && !isReported) write(`it exited with code ${code}`);
  });
}
