import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { CrashReport, FromServer, ToServer } from './protocol.ts';
import type { Recorder } from './recorder.ts';
import { hasThreadClock, rotate } from './rotation.ts';
import type { StairsState } from './state.ts';

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
  let isStopped = false;
  const lines = createInterface({ input: socket });
  // It hands the socket's errors on.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    const asked = JSON.parse(line) as ToServer;
    if (asked.type === 'stop') {
      isStopped = true;
    } else if (asked.type === 'trace') {
      recorder.start();
      say({ type: 'tracing' });
    } else if (asked.type === 'report') {
      say({ type: 'trace', trace: recorder.report() });
    } else if (asked.type === 'hold') {
      state.k = asked.cut;
      say({ type: 'held', stubs: state.stubs, requests: state.requests });
    } else {
      isStopped = false;
      void rotate(
        state,
        asked.rounds,
        asked,
        (slices) => say({ type: 'round', slices }),
        () => isStopped,
      ).then(() => say({ type: 'done' }));
    }
  });
}

/** A cut can leave the app with what it never sees otherwise. The last word says which cut it was. */
export function reportCrashes(state: StairsState): void {
  const write = (message: string): void => {
    const report: CrashReport = { cut: state.k, message };
    writeFileSync(state.settings.crashFile, JSON.stringify(report));
  };
  let isReported = false;
  process.on('uncaughtExceptionMonitor', (error) => {
    if (error === (state.S as unknown)) return;
    isReported = true;
    write(
      String((error as Error | undefined)?.stack ?? error)
        .split('\n')
        .slice(0, 3)
        .join('\n'),
    );
  });
  process.on('exit', (code) => {
    if (code !== 0 && !isReported) write(`it ended with exit code ${code}`);
  });
}
