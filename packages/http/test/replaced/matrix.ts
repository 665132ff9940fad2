import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { owners } from './wrap.ts';
import type { Calls, Replaced, Task } from './worker.ts';

/** The calls on one of the engines. */
export async function callsOf(task: Task): Promise<Calls> {
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: task });
  const [calls] = (await once(worker, 'message')) as [Calls];
  await worker.terminate();
  return calls;
}

/** Compares the calls on Node and on the engine, of each group and client. */
export async function compare(task: Omit<Task, 'engine'>): Promise<void> {
  const [expected, actual] = await Promise.all([
    callsOf({ ...task, engine: 'node' }),
    callsOf({ ...task, engine: 'redline' }),
  ]);
  assert.ok(expected.length > 0);
  for (const [at, group] of task.groups.entries()) {
    const names = group.map(([owner, method]) => `${owner}.prototype.${method}`).join(', ');
    for (const [client, calls] of Object.entries(expected[at]!)) {
      assert.deepEqual(actual[at]![client], calls, `${names}: ${client}`);
    }
  }
}

function chainOf(prototype: object): object[] {
  const below = Object.getPrototypeOf(prototype) as object;
  return below === Object.prototype ? [prototype] : [prototype, ...chainOf(below)];
}

/** Every method of a class, its own or those it inherits too. */
export function methodsOf(owner: string, isWhole: boolean): Replaced {
  const names = new Set<string>();
  const own = owners[owner]!().prototype;
  for (const prototype of isWhole ? chainOf(own) : [own]) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return [...names].map((name) => [owner, name] as const);
}

/** Classes of which all methods count, those they inherit too. */
export const leaves = ['http.ServerResponse', 'http.IncomingMessage', 'http.Server', 'net.Socket'];

export const alone = (methods: Replaced): Replaced[] => methods.map((method) => [method]);

/** Methods that are called on the short way too. */
export const onShortWay: Replaced = [
  ['http.Server', 'emit'],
  ['http.IncomingMessage', 'emit'],
  ...['emit', 'end', 'write', 'flushHeaders', 'writeHead', 'setHeader', 'writeContinue'].map(
    (name) => ['http.ServerResponse', name] as const,
  ),
];

/** Methods that agents and firewalls replace, those Node calls itself, and what nothing but sockets have. */
export const usual: Replaced[] = [
  onShortWay,
  [['http.ServerResponse', 'emit']],
  [['http.OutgoingMessage', 'end']],
  [
    ['http.ServerResponse', '_storeHeader'],
    ['http.ServerResponse', 'assignSocket'],
    ['http.ServerResponse', 'detachSocket'],
    ['http.OutgoingMessage', '_send'],
    ['http.OutgoingMessage', '_flush'],
  ],
  [
    ['http.IncomingMessage', 'read'],
    ['http.IncomingMessage', '_read'],
    ['http.IncomingMessage', '_dump'],
    ['stream.Readable', 'push'],
  ],
  [['events.EventEmitter', 'emit']],
  [['net.Socket', 'write']],
];
