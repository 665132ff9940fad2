// The real PM2: two workers of its cluster mode on the engine, which `pm2 reload` replaces under load. No request is lost.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { engine } from '@redline/http';
import { freePort } from '@redline/services';
import { installedCopy } from './installed-copy.ts';

const WORKERS = 2;
const RELOADS = 3;
const CLIENTS = 8;
/** Before its own limit a worker ends by itself: its idle connections stay for 5 s. */
const KILL_TIMEOUT_MS = 15_000;
/** What takes longer will not come: a command of PM2, both workers, a response. */
const PATIENCE_MS = 60_000;

interface Load {
  readonly pids: Set<number>;
  readonly engines: Set<string>;
  responses: number;
  /** Requests on a connection that the server had just closed, which clients repeat. */
  repeated: number;
  readonly lost: string[];
}

export async function run(): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`pm2: skipped, ${serving.reason}`);
    return true;
  }
  const began = performance.now();
  await using copy = await installedCopy(join(import.meta.dirname, 'pm2'), []);
  const port = await freePort();
  const { NODE_OPTIONS: _, ...rest } = process.env;
  const env = { ...rest, PM2_HOME: join(copy.folder, 'home'), PORT: String(port) };
  const pm2 = async (...args: string[]): Promise<string> => {
    const file = join(copy.folder, 'node_modules/pm2/bin/pm2');
    const options = { cwd: copy.folder, env, timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(process.execPath, [file, ...args], options)).stdout;
  };
  const load: Load = { pids: new Set(), engines: new Set(), responses: 0, repeated: 0, lost: [] };
  const ended = new AbortController();
  let gone = 0;
  try {
    const preload = `--import ${import.meta.resolve('@redline/http/register')}`;
    const limit = ['--kill-timeout', String(KILL_TIMEOUT_MS)];
    await pm2('start', 'app.js', '-i', String(WORKERS), '--node-args', preload, ...limit);
    await listening(port);
    const clients = Array.from({ length: CLIENTS }, (__, number) =>
      ask(port, number % 2 === 0, load, ended.signal),
    );
    for (let left = RELOADS; left > 0; left--) {
      const old = [...(await bothOf(load))];
      await pm2('reload', 'app');
      load.pids.clear();
      const now = await bothOf(load);
      gone += old.filter((pid) => !now.has(pid)).length;
    }
    ended.abort();
    await Promise.all(clients);
  } finally {
    ended.abort();
    await pm2('kill');
  }
  for (const reason of load.lost.slice(0, 5)) console.log(`pm2: lost: ${reason}`);
  const seconds = Math.round((performance.now() - began) / 1000);
  const { responses, repeated, lost, engines } = load;
  console.log(
    `pm2: ${responses} responses by ${[...engines].join(' and ')} over ${RELOADS} reloads, ${gone} workers replaced, ` +
      `${lost.length} requests lost, ${repeated} repeated, in ${seconds} s`,
  );
  const isNative = engines.size === 1 && engines.has('native');
  return isNative && lost.length === 0 && responses > 0 && gone === WORKERS * RELOADS;
}

/** `pm2 start` does not wait for that. */
async function listening(port: number): Promise<void> {
  for (const late = AbortSignal.timeout(PATIENCE_MS); ; late.throwIfAborted()) {
    const socket = connect(port, '127.0.0.1');
    const isConnected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isConnected) return;
    await sleep(20);
  }
}

/** Both workers, as soon as both have given a response. */
async function bothOf({ pids }: Load): Promise<Set<number>> {
  for (const late = AbortSignal.timeout(PATIENCE_MS); pids.size < WORKERS; late.throwIfAborted()) {
    await sleep(20);
  }
  return new Set(pids);
}

/** One request after the other, on a connection for each or on one that is kept, until `ended`. */
async function ask(port: number, isKept: boolean, load: Load, ended: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: isKept, maxSockets: 1 });
  while (!ended.aborted) {
    try {
      const { pid, engine: name } = await get(port, agent, load);
      load.responses += 1;
      load.pids.add(pid);
      load.engines.add(name);
    } catch (error) {
      load.lost.push(`${isKept ? 'kept' : 'new'} connection: ${(error as Error).message}`);
    }
  }
  agent.destroy();
}

async function get(
  port: number,
  agent: Agent,
  load: Load,
): Promise<{ pid: number; engine: string }> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const sent = request({ host: '127.0.0.1', port, agent, signal });
  sent.end();
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    return JSON.parse(text);
  } catch (error) {
    // As every client and proxy does: the server may have closed a connection that rested while the request was on its way.
    if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    load.repeated += 1;
    return await get(port, agent, load);
  }
}
