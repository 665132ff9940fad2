// Program of a pool worker, on Node or Bun: starts children on request, and reports their events.
import { connect } from 'node:net';
import {
  decodeBatch,
  encodeBatch,
  type Serialization,
  type Kind,
  kind,
  type Post,
  type SpawnRequest,
  type Value,
  Outbox,
} from './messages.ts';
import { encodeFrames, FrameDecoder } from './frames.ts';
import { WorkerChild } from './worker-child.ts';

const { REDLINE_POOL_ADDRESS, REDLINE_POOL_SECRET, REDLINE_POOL_SERIALIZATION } = process.env;
// Removed, so that children do not inherit them.
for (const name of ['ADDRESS', 'SECRET', 'SERIALIZATION'])
  delete process.env[`REDLINE_POOL_${name}`];
for (const name of ['FD', 'SERIALIZATION_MODE']) delete process.env[`NODE_CHANNEL_${name}`];

const children = new Map<number, WorkerChild>();
const post =
  REDLINE_POOL_ADDRESS === undefined
    ? openChannel(REDLINE_POOL_SERIALIZATION as Serialization)
    : openSocket(REDLINE_POOL_ADDRESS);
post(kind.ready, 0, REDLINE_POOL_SECRET);

function receive(messageKind: Kind, id: number, value: Value): void {
  if (messageKind !== kind.spawn) {
    children.get(id)?.receive(messageKind, value);
    return;
  }
  const child = new WorkerChild(id, value as SpawnRequest, post, () => children.delete(id));
  children.set(id, child);
}

function openChannel(serialization: Serialization): Post {
  const outbox = new Outbox((batch) => {
    if (process.connected) process.send!(encodeBatch(batch, serialization), () => {});
  });
  process.on('message', (batch) => decodeBatch(batch, receive));
  process.on('disconnect', endEverything);
  return (messageKind, id, value) => outbox.post(messageKind, id, value);
}

function openSocket(address: string): Post {
  const socket = connect({ path: address });
  const decoder = new FrameDecoder(receive);
  const outbox = new Outbox((batch) => {
    socket.cork();
    for (const piece of encodeFrames(batch)) socket.write(piece);
    socket.uncork();
  });
  socket.on('data', (chunk) => decoder.write(chunk));
  socket.on('error', () => {});
  socket.on('close', endEverything);
  return (messageKind, id, value) => outbox.post(messageKind, id, value);
}

/** The pool is gone, in order or not: kills all children except detached ones. The worker leads the group. */
function endEverything(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.exit(1);
  }
}
