import { constants } from 'node:os';
import { swallowSpawn } from './mixed-stdio.ts';
import type { NativeChild } from './native-child.ts';
import { nodeOptions } from '../plan/node-options.ts';
import { handedOver, type HandedOver } from '../native/pipe.ts';
import { port } from '../native/port.ts';
import type { Extras } from '../plan/extras.ts';
import { textsOf, type SpawnPlan } from '../plan/spawn-plan.ts';
import { submit, type Collecting } from './submit.ts';
import { STDIO } from '../native/wire.ts';

const { IGNORE, PIPE } = STDIO;

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
