import { nodeChildProcess } from '../node/node-child-process.ts';
import { decodeBatch, encodeBatch, type Serialization } from './batches.ts';
import { Outbox } from './outbox.ts';
import type { ResolvedPoolOptions } from './options.ts';
import { ownEngine } from './runtime.ts';
import type { LinkListener, WorkerLink } from './worker-link.ts';
import { setTimeout } from '../node/timers.ts';

/** 'disconnect' follows 'exit' immediately; if a runtime omits it, the children must not wait forever. */
const disconnectGraceMs = 1_000;

export function openSendLink(
  { runtime, workerFile }: ResolvedPoolOptions,
  listener: LinkListener,
): WorkerLink {
  const serialization: Serialization = runtime.engine === ownEngine ? 'advanced' : 'json';
  const child = nodeChildProcess.fork(workerFile, {
    execPath: runtime.path,
    execArgv: [],
    serialization,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Its own process group, so that all its children can be killed with it, whenever and however it ends.
    detached: true,
    env: { ...process.env, REDLINE_POOL_SERIALIZATION: serialization },
  });
  let isDown = false;
  const down = (cause?: Error): void => {
    if (isDown) return;
    isDown = true;
    listener.onDown(cause);
  };
  child.on('message', (batch) => decodeBatch(batch, listener.onMessage));
  // Not 'exit': messages in transit may still be read after it.
  child.on('disconnect', () => down());
  child.on('exit', () => setTimeout(down, disconnectGraceMs));
  child.on('error', (error) => {
    if (child.pid === undefined || !child.connected) down(error);
  });
  const outbox = new Outbox((batch) => {
    // 'disconnect' reports a worker that is gone; the callback prevents an additional 'error'.
    if (child.connected) child.send(encodeBatch(batch, serialization), () => {});
  });
  return {
    process: child,
    post: (kind, id, value) => outbox.post(kind, id, value),
    setRef(isRef) {
      const verb = isRef ? 'ref' : 'unref';
      child[verb]();
      child.channel?.[verb]?.();
    },
    end() {
      if (child.connected) child.disconnect();
    },
  };
}
