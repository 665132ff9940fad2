import { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { makeAccessible, type NativeChild } from './native-child.ts';
import { nodeOptions } from '../plan/node-options.ts';
import { handedOver, type StdioEntry } from '../native/pipe.ts';
import { port } from '../native/port.ts';
import type { SpawnPlan } from '../plan/spawn-plan.ts';
import { MIXED } from '../plan/stdio-plan.ts';
import { submit } from './submit.ts';
import { STDIO } from '../native/wire.ts';

const { IGNORE, PIPE } = STDIO;

const { spawn: nodeSpawn } = ChildProcess.prototype as unknown as {
  spawn(this: NativeChild, options: object): number;
};

/**
 * Starts a child with an IPC channel, or with a stream among its stdio. Node's own `ChildProcess.prototype.spawn` sets up
 * both, around the engine's handle; it gets "ignore" for pipes that the engine makes.
 */
export function startMixed(child: NativeChild, plan: SpawnPlan, given: unknown[]): void {
  const { codes } = plan.stdio;
  Object.assign(child._handle!, {
    spawn(...options: unknown[]): number {
      const { envPairs, stdio } = handedOver(options);
      return submitMixed(child, plan, envPairs ?? [], stdio);
    },
  });
  swallowSpawn(child);
  let result = -1;
  try {
    result = nodeSpawn.call(child, {
      ...nodeOptions(plan),
      stdio: codes.map((code, index) => (code === MIXED ? given[index] : 'ignore')),
    });
  } finally {
    if (result !== 0) Reflect.deleteProperty(child, 'emit');
    makeAccessible(child);
  }
}

function submitMixed(
  child: NativeChild,
  plan: SpawnPlan,
  env: string[],
  entries: StdioEntry[],
): number {
  const codes: number[] = [];
  const visible: number[] = [];
  let channel = -1;
  for (const [index, entry] of entries.entries()) {
    const code = plan.stdio.codes[index]!;
    if (code !== MIXED) {
      codes.push(code);
      visible.push(code);
      continue;
    }
    visible.push(IGNORE);
    if (entry.ipc) {
      channel = index;
      codes.push(PIPE);
    } else if (entry.handle !== undefined && entry.handle.fd >= 0) {
      codes.push(entry.handle.fd);
    } else {
      return -constants.errno.EINVAL;
    }
  }
  const onQueued = (id: number): void => {
    if (channel < 0) return;
    const pipe = entries[channel]!.handle!;
    pipe.open(port().take(id, channel).fd);
    child._handle!.useChannel(pipe);
  };
  return submit(child, plan, env, { codes, visible, onQueued });
}

/** Drops the "spawn" that Node emits on the next tick: Node has not started the child, and the engine knows when it runs. */
export function swallowSpawn(child: NativeChild): void {
  const value: typeof child.emit = (name, ...args) => {
    if (name === 'spawn') {
      Reflect.deleteProperty(child, 'emit');
      return false;
    }
    return Reflect.apply(ChildProcess.prototype.emit, child, [name, ...args]) as boolean;
  };
  Object.defineProperty(child, 'emit', {
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
