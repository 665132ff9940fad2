// One start of an app: what it sends to every request, and how it ends.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Client, type Endpoint, type Exchange } from './exchange.ts';
import type { Setting } from './setting.ts';

export interface Visit {
  signal: 'SIGTERM' | 'SIGINT';
  exchanges: Exchange[];
  /** The exit status and what became of an idle connection. */
  exit: string;
  /** What serves each listener of the app: empty on Node. */
  engines: string[];
}

const http = join(import.meta.dirname, '../../packages/http');
const readyMs = 90_000;
const exitMs = 15_000;
/** ZOO_SLOW=1 names the asks that take longer. */
const slowMs = 1_000;

export async function visit(
  setting: Setting,
  signal: Visit['signal'],
  onEngine: boolean,
): Promise<Visit> {
  const { app, ports } = setting;
  setting.renew();
  const report = join(setting.folder, 'engines.txt');
  rmSync(report, { force: true });
  const imports = [
    pathToFileURL(join(http, 'dist/register.js')),
    pathToFileURL(join(import.meta.dirname, 'report-engine.mjs')),
  ].map((url) => `--import=${url.href}`);
  const env = {
    ...setting.env(),
    ...(onEngine && {
      NODE_OPTIONS: imports.join(' '),
      ZOO_ENGINE: pathToFileURL(join(http, 'dist/index.js')).href,
      ZOO_REPORT: report,
    }),
  };
  const child = spawn(process.execPath, setting.command(), {
    cwd: setting.place.app,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output.push(data.toString());
    });
  }
  try {
    const endpoint = await findEndpoint(child, ports.app, app.ready);
    const client = new Client(endpoint);
    const exchanges: Exchange[] = [];
    for (const ask of app.asks(ports)) {
      const askedAt = performance.now();
      const exchange = await client.ask(ask);
      exchanges.push(exchange);
      const tookMs = performance.now() - askedAt;
      if (tookMs > slowMs && process.env['ZOO_SLOW']) {
        process.stderr.write(`${app.name}: ${exchange.name} took ${tookMs.toFixed(0)} ms\n`);
      }
    }
    const exit = await stop(child, endpoint, signal);
    const engines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
    return { signal, exchanges, exit, engines };
  } catch (error) {
    throw new Error(`${app.name}: ${(error as Error).message}\n${output.join('').slice(-2_000)}`, {
      cause: error,
    });
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

/** The origin of what forwards requests: it says what it received. */
export async function startOrigin(port: number): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      if (request.url === '/large') return response.end('0123456789'.repeat(30_000));
      if (request.url === '/moved') return response.writeHead(302, { location: '/' }).end();
      if (request.url === '/stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return response.end('data: 1\n\ndata: 2\n\ndata: 3\n\n');
      }
      response.setHeader('content-type', 'application/json');
      const { method, url, rawHeaders } = request;
      return response.end(JSON.stringify({ method, url, rawHeaders, body }));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function findEndpoint(
  child: ChildProcess,
  port: number,
  ready: string | null = '/',
): Promise<Endpoint> {
  const deadline = Date.now() + readyMs;
  const hosts = ['127.0.0.1', '::1'];
  for (;;) {
    for (const host of hosts) {
      if (!(await accepts({ host, port }))) continue;
      if (ready === null) return { host, port };
      const exchange = await new Client({ host, port }).ask({
        kind: 'request',
        method: 'GET',
        path: ready,
        headers: [],
      });
      const status = Number(exchange.head[0]?.split(' ')[1]);
      if (status < 500) return { host, port };
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`it ended with ${child.signalCode ?? child.exitCode} before it listened`);
    }
    if (Date.now() > deadline) throw new Error(`it does not listen on port ${port}`);
    await sleep(50);
  }
}

export async function accepts(endpoint: Endpoint): Promise<boolean> {
  const socket = connect(endpoint);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  const result = await promise;
  socket.destroy();
  return result;
}

async function stop(
  child: ChildProcess,
  endpoint: Endpoint,
  signal: Visit['signal'],
): Promise<string> {
  const idle = connect(endpoint);
  let end = 'open';
  idle.on('error', () => (end = 'reset'));
  idle.on('close', () => (end = end === 'open' ? 'closed' : end));
  await once(idle, 'connect');
  idle.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await Promise.race([
    once(idle, 'data'),
    once(idle, 'close'),
    sleep(5_000, undefined, { ref: false }),
  ]);
  idle.resume();
  const ended = once(child, 'exit').then(([code, by]) => `exit ${by ?? code}`);
  child.kill(signal);
  const exit = await Promise.race([
    ended,
    sleep(exitMs, undefined, { ref: false }).then(() => `still running ${exitMs / 1_000} s later`),
  ]);
  // The end of the connection is on its way when the process is gone.
  if (exit.startsWith('exit') && end === 'open') {
    await Promise.race([once(idle, 'close'), sleep(2_000, undefined, { ref: false })]);
  }
  idle.destroy();
  return `${exit}, idle connection ${end}`;
}
