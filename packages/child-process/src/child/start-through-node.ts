import { constants } from 'node:os';
import { ChildProcess } from 'node:child_process';
import { type NativeChild, makeAccessible } from './native-child.ts';
import { handedOver, type HandedOver, type StdioEntry } from '../native/pipe.ts';
import { port } from '../native/port.ts';
import type { Extras } from '../plan/extras.ts';
import { textsOf, type SpawnPlan, explicitPairs } from '../plan/spawn-plan.ts';
import { submit, type Collecting } from './submit.ts';
import { STDIO } from '../native/wire.ts';
import { MIXED } from '../plan/stdio-plan.ts';

const { IGNORE, PIPE } = STDIO;

const { spawn: nodeSpawn } = ChildProcess.prototype as unknown as {
  spawn(this: NativeChild, options: object): number;
};

type Spawning = { spawn(options: object): number };

/**
 * Starts a child through `child.spawn(options)`, as Node does, for code that wraps that call. Everything but the start is
 * then Node's own, including the streams.
 */
export function startThroughNode(
  child: NativeChild,
  plan: SpawnPlan,
  collecting: Collecting | undefined,
): void {
  Object.assign(child._handle!, {
    spawn: (...options: unknown[]): number =>
      submitHandedOver(child, handedOver(options), plan.extras),
  });
  swallowSpawn(child);
  let result = -1;
  try {
    result = (child as unknown as Spawning).spawn(nodeOptions(plan));
  } finally {
    if (result !== 0) Reflect.deleteProperty(child, 'emit');
  }
  if (child.stdio) child._handle?.pipes?.use(child.stdio);
  const collection = collecting?.of(child);
  for (const index of [1, 2]) {
    const stream = child.stdio?.[index];
    if (stream) collection?.attach(index, stream);
  }
}

function submitHandedOver(child: NativeChild, options: HandedOver, extras: Extras): number {
  const codes: number[] = [];
  for (const { type, fd, handle } of options.stdio) {
    if (type === 'ignore') codes.push(IGNORE);
    else if (type === 'pipe' || type === 'overlapped') codes.push(PIPE);
    else {
      const inherited = fd ?? handle?.fd ?? -1;
      if (inherited < 0) return -constants.errno.EINVAL;
      codes.push(inherited);
    }
  }
  const plan = {
    file: options.file,
    argv: textsOf(options.args ?? [options.file]),
    cwd: options.cwd ?? null,
    detached: options.detached ?? false,
    uid: options.uid ?? null,
    gid: options.gid ?? null,
    extras,
  };
  const visible = codes.map(() => IGNORE);
  const onQueued = (id: number): void => {
    for (const [index, code] of codes.entries()) {
      if (code !== PIPE) continue;
      const { handle, ipc } = options.stdio[index]!;
      handle!.open(port().take(id, index).fd);
      if (ipc) child._handle!.useChannel(handle!);
    }
  };
  return submit(child, plan, options.envPairs ?? null, { codes, visible, onQueued });
}

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
function swallowSpawn(child: NativeChild): void {
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

/**
 * Returns the options that Node's `spawn` derives from its arguments: passed to `ChildProcess.prototype.spawn` and seen by
 * tracers.
 */
export function nodeOptions(plan: SpawnPlan): Record<string, unknown> {
  const { given } = plan;
  return {
    __proto__: null,
    ...given,
    args: plan.args,
    cwd: plan.cwd ?? given.cwd,
    detached: plan.detached,
    envPairs: explicitPairs(plan.env).slice(),
    file: plan.file,
    windowsHide: Boolean(given.windowsHide),
    windowsVerbatimArguments: Boolean(given.windowsVerbatimArguments),
  };
}
