// One thread of the matrix: methods are replaced before or after `register`, clients talk, and the calls are told.
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { until } from '@redline/services/until';
import { clients, prepare, respond, talk } from './requests.ts';
import { log, note, owners, wrap, type How } from './wrap.ts';

/** What is replaced together: owner and method, or the owner's class and method for a subclass or an instance. */
export type Replaced = readonly (readonly [owner: string, method: string])[];
export interface Task {
  readonly engine: 'node' | 'redline';
  readonly order: 'before' | 'after';
  readonly place: 'prototype' | 'subclass' | 'instance';
  readonly how: How;
  readonly framework: string;
  /** Each is replaced for a server of its own. With `before` there is one. */
  readonly groups: readonly Replaced[];
  readonly clients?: readonly string[];
}
/** By group and client: the calls, and what the client got. */
export type Calls = Record<string, string[]>[];

const { getConnections } = net.Server.prototype;
const task = workerData as Task;

const results: Calls = [];
const undo: (() => void)[] = [];

if (task.order === 'before' && task.place === 'prototype') replace(task.groups[0]!);
if (task.engine === 'redline') await import('../../src/register.ts');
const listener = await framework(task.framework);
for (const group of task.groups) {
  if (task.order === 'after' && task.place === 'prototype') replace(group);
  results.push(await run(group));
  for (const restore of undo.splice(0).toReversed()) restore();
}
// eslint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port
parentPort!.postMessage(results);

function replace(group: Replaced): void {
  for (const [owner, method] of group) {
    undo.push(wrap(owners[owner]!().prototype, method, task.how, owner));
  }
}

async function run(group: Replaced): Promise<Record<string, string[]>> {
  const calls: Record<string, string[]> = {};
  const server = make(group);
  prepare(server);
  note(server);
  log.length = 0;
  await new Promise<void>((resolve) => {
    // Not through methods that may be replaced.
    const wait = (): void => {
      if (server.listening) resolve();
      else setImmediate(wait);
    };
    server.listen(0, '127.0.0.1');
    wait();
  });
  await settle();
  calls['listen'] = log.splice(0);
  const { port } = server.address() as AddressInfo;
  log.length = 0;
  for (const name of task.clients ?? Object.keys(clients)) {
    const got = await talk(port, clients[name]!);
    await nobody(server);
    calls[name] = [...log.splice(0), got];
  }
  server.close();
  await nobody(server);
  await settle();
  calls['close'] = log.splice(0);
  note(undefined);
  return calls;
}

/** A server whose class, messages or objects have the methods, where that is asked for. */
function make(group: Replaced): http.Server {
  if (task.place === 'subclass') {
    class Request extends http.IncomingMessage {}
    class Response extends http.ServerResponse {}
    class Server extends http.Server {}
    for (const [owner, method] of group) {
      const own = { 'http.IncomingMessage': Request, 'http.ServerResponse': Response }[owner];
      wrap((own ?? Server).prototype, method, task.how, owner);
    }
    const options = { IncomingMessage: Request, ServerResponse: Response };
    const isOfServer = group.some(([owner]) => owner === 'http.Server');
    return isOfServer ? new Server(listener) : http.createServer(options as never, listener);
  }
  if (task.place === 'prototype') return http.createServer(listener);
  const server = http.createServer((request, response) => {
    replaceOn(request, response, group);
    listener(request, response);
  });
  for (const [owner, method] of group) {
    if (owner === 'http.Server') wrap(server, method, task.how, owner);
  }
  return server;
}

function replaceOn(request: IncomingMessage, response: ServerResponse, group: Replaced): void {
  for (const [owner, method] of group) {
    if (owner === 'http.IncomingMessage') wrap(request, method, task.how, owner);
    if (owner === 'http.ServerResponse') wrap(response, method, task.how, owner);
  }
}

async function framework(name: string): Promise<RequestListener> {
  if (name === 'node:http') return respond;
  const { frameworks } = await import('../frameworks/frameworks.ts');
  return (await frameworks[name]!())(respond);
}

/** What is on its way has come. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

async function nobody(server: http.Server): Promise<void> {
  const count = (): Promise<number> =>
    new Promise((resolve) => getConnections.call(server, (_, open) => resolve(open)));
  await until('nobody is connected', async () => (await count()) === 0);
  await settle();
}
