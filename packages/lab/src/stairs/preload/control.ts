import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type CrashReport, type FromServer, type ToServer, watched, whole } from './protocol.ts';
import type { Recorder } from './recorder.ts';
import { hasThreadClock, rotate } from './rotation.ts';
import { type StairsState, unwound } from './state.ts';
import { WaitingMarks } from './waiting-marks.ts';

/** The line to the runner: it asks, this process measures itself. */
export function openControl(state: StairsState, recorder: Recorder): void {
  const { controlPort } = state.settings;
  const socket = connect(controlPort, '127.0.0.1');
  socket.unref();
  // The runner is gone: this server will be ended too.
  socket.on('error', () => {});
  const say = (message: FromServer): void => void socket.write(`${JSON.stringify(message)}\n`);
  say({ type: 'hello', pid: process.pid, node: process.version, hasThreadClock });
  listen(socket, state, recorder, say);
}

function listen(
  socket: Socket,
  state: StairsState,
  recorder: Recorder,
  say: (message: FromServer) => void,
): void {
  const lines = createInterface({ input: socket });
  // It hands the socket's errors on.
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
      say({ type: 'watching' });
    } else if (asked.type === 'marks') {
      state.k = whole;
      say({ type: 'marks', marks: state.marks?.all() ?? [] });
      state.marks = undefined;
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

/** What the app started and does not wait for ends with its request, and nobody is to be blamed for it. */
export function quietRejections(): void {
  const emit = process.emit as (this: NodeJS.Process, event: string, ...args: unknown[]) => boolean;
  process.emit = function (this: NodeJS.Process, event: string, ...args: unknown[]): boolean {
    if (event === 'unhandledRejection' && args[0] === unwound) return true;
    return emit.call(this, event, ...args);
  } as typeof process.emit;
}

/** A cut can leave the app with what it never sees otherwise. The last word says which cut it was. */
export function reportCrashes(state: StairsState): void {
  const write = (message: string): void => {
    const report: CrashReport = { cut: state.k, message };
    writeFileSync(state.settings.crashFile, JSON.stringify(report));
  };
  let isReported = false;
  process.on('uncaughtExceptionMonitor', (error) => {
    if (error === unwound) return;
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
