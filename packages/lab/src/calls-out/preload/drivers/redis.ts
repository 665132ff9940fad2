import type { CallRecorder } from '../recorder.ts';
import { redisPattern } from '../patterns.ts';
import { type Method, recorded, type Wrappable, wrapMethod } from './driver.ts';

interface IoredisCommand {
  name: string;
  args: unknown[];
  resolve: Method;
  reject: Method;
}

/** Wraps `sendCommand` of ioredis, through which pipelines and clusters go too. A command may be sent again, and is recorded once. */
export function wrapIoredis(recorder: CallRecorder): (owner: Wrappable | undefined) => void {
  const known = new WeakSet<object>();
  return (owner) =>
    wrapMethod(
      owner?.prototype,
      'sendCommand',
      (send) =>
        function (this: unknown, ...args) {
          const command = args[0] as IoredisCommand | undefined;
          if (recorder.isOn && command !== undefined && !known.has(command)) {
            known.add(command);
            watch(recorder, command);
          }
          return send.apply(this, args);
        },
    );
}

/** Replaces the functions that settle the command: its promise stays the same. */
function watch(recorder: CallRecorder, command: IoredisCommand): void {
  const open = recorder.begin(() => factsOf(command.name, command.args));
  if (open === undefined) return;
  for (const name of ['resolve', 'reject'] as const) {
    wrapMethod(
      command,
      name,
      (settle) =>
        function (this: unknown, ...args) {
          open.end(name === 'reject' ? args[0] : undefined);
          return settle.apply(this, args);
        },
    );
  }
}

/** Wraps `addCommand` of the queue of node-redis, through which every client, also of a cluster or a pool, goes. */
export function wrapNodeRedis(recorder: CallRecorder): (owner: Wrappable | undefined) => void {
  return (owner) =>
    wrapMethod(
      owner?.prototype,
      'addCommand',
      (add) =>
        function (this: unknown, ...args) {
          const open = recorder.isOn
            ? recorder.begin(() => {
                const [name, ...values] = args[0] as unknown[];
                return factsOf(String(name), values);
              })
            : undefined;
          const promise = add.apply(this, args);
          return open === undefined ? promise : recorded(promise, open);
        },
    );
}

function factsOf(name: string, args: readonly unknown[]) {
  return { system: 'Redis', text: redisPattern(name, args), values: args } as const;
}
