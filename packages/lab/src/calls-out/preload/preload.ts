// Loaded into the app before its own code: NODE_OPTIONS=--import. It is also loaded into npm, every other Node process on the way
// and their worker threads, where it waits for orders.
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { hookDrivers } from './patches.ts';
import { installRecorder } from './install.ts';
import { callsName, type CallsOrder, type CallsReport } from './protocol.ts';

const path = process.env[callsName];
if (path !== undefined) report(connect(path));

function report(socket: Socket): void {
  // The runner that started the app may exit first.
  socket.on('error', () => {});
  // Unreferenced: the app exits as it would without this connection.
  socket.unref();
  const recorder = installRecorder();
  hookDrivers();
  socket.on('close', () => recorder.stop());
  const say = (message: CallsReport): void => void socket.write(`${JSON.stringify(message)}\n`);
  const lines = createInterface({ input: socket });
  lines.on('error', () => {});
  lines.on('line', (line) => {
    const { type } = JSON.parse(line) as CallsOrder;
    if (type === 'watch') {
      recorder.start();
      say({ type: 'watching' });
    } else {
      say({ type: 'calls', requests: recorder.take() });
      recorder.stop();
    }
  });
}
