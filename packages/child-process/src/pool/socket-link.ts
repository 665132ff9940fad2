import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeChildProcess } from '../node-child-process.ts';
import { encodeFrames, FrameDecoder } from './frames.ts';
import { kind, type Message } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { Runtime } from './runtime.ts';
import { type LinkListener, workerFile, type WorkerLink } from './worker-link.ts';

/** What the first frame holds: the secret, as JSON. */
const greetingBytes = 256;

/**
 * One Unix socket for one worker, in a folder that only this user may enter: the kernel turns everybody else away, which
 * it would not for an abstract name. The secret in the first frame tells the worker from other programs of this user.
 */
export function openSocketLink(runtime: Runtime, listener: LinkListener): WorkerLink {
  const folder = mkdtempSync(join(tmpdir(), 'redline-pool-'));
  const address = join(folder, 'worker');
  const secret = randomBytes(32).toString('hex');
  let socket: Socket | undefined;
  let waiting: Message[] = [];
  const candidates = new Set<Socket>();
  let isRef = true;
  let isDown = false;

  const deliver = (batch: Message[]): void => {
    if (socket === undefined) {
      waiting.push(...batch);
      return;
    }
    if (socket.destroyed) return;
    socket.cork();
    for (const piece of encodeFrames(batch)) socket.write(piece);
    socket.uncork();
  };
  const outbox = new Outbox(deliver);
  const down = (cause?: Error): void => {
    if (isDown) return;
    isDown = true;
    stopListening();
    socket?.destroy();
    listener.onDown(cause);
  };
  const stopListening = (): void => {
    server.close();
    for (const candidate of candidates) if (candidate !== socket) candidate.destroy();
    rmSync(folder, { recursive: true, force: true });
  };
  const server = createServer((candidate) => {
    candidates.add(candidate);
    candidate.on('close', () => candidates.delete(candidate));
    const decoder = new FrameDecoder((frameKind, id, value) => {
      if (socket === candidate) return listener.onMessage(frameKind, id, value);
      if (socket !== undefined || frameKind !== kind.ready || value !== secret) {
        return void candidate.destroy();
      }
      socket = candidate;
      decoder.limit = Infinity;
      if (!isRef) socket.unref();
      stopListening();
      socket.on('close', () => down());
      const early = waiting;
      waiting = [];
      deliver(early);
      listener.onMessage(frameKind, id, undefined);
    }, greetingBytes);
    candidate.on('data', (chunk) => {
      try {
        decoder.write(chunk);
      } catch {
        // Not a frame: a stranger.
        candidate.destroy();
      }
    });
    candidate.on('error', () => {});
  });
  server.listen(address);
  server.on('error', (error) => {
    child.kill('SIGKILL');
    down(error);
  });
  const child = nodeChildProcess.spawn(runtime.path, [workerFile], {
    stdio: 'inherit',
    detached: true,
    env: {
      ...process.env,
      REDLINE_POOL_ADDRESS: address,
      REDLINE_POOL_SECRET: secret,
    },
  });
  child.on('error', down);
  child.on('exit', () => {
    // Before it has dialled, there is no socket whose end would report this.
    if (socket === undefined) down();
  });
  return {
    process: child,
    post: (frameKind, id, value) => outbox.post(frameKind, id, value),
    setRef(wanted) {
      isRef = wanted;
      const verb = wanted ? 'ref' : 'unref';
      child[verb]();
      server[verb]();
      socket?.[verb]();
    },
    end() {
      if (socket === undefined) child.kill('SIGKILL');
      else socket.end();
    },
  };
}
