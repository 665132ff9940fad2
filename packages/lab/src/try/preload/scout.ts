// Loaded into the app before its own code: NODE_OPTIONS=--import. It is also loaded into npm, npx and every other Node process on
// the way, and does nothing there except wait for a server that never listens.
import childProcess from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, Server } from 'node:net';
import {
  environmentName,
  firstHttp,
  type Listening,
  portName,
  type ScoutSettings,
  type Sighting,
} from './protocol.ts';
import { frameworkOf, routesOf, watchRoutes } from './routes.ts';

/** Delays at which routes are read again: an app may add some after it listens. */
const recheckMs = [150, 300, 500, 900, 1_500, 3_000];

type Listen = (this: Server, ...args: unknown[]) => Server;

const text = process.env[environmentName];
if (text !== undefined) install(JSON.parse(text) as ScoutSettings);

function install(settings: ScoutSettings): void {
  const { file } = settings;
  if (file === undefined) return watchListen(settings, () => {});
  const report = (sighting: Sighting): void =>
    appendFileSync(file, `${JSON.stringify(sighting)}\n`);
  watchRoutes();
  let hasListened = false;
  watchListen(settings, (server, asked) => {
    hasListened = true;
    let lastReport = '';
    const reportRoutes = async (): Promise<void> => {
      const sighting = await sightingOf(server, asked, settings);
      if (sighting === undefined || lastReport === JSON.stringify(sighting)) return;
      lastReport = JSON.stringify(sighting);
      report(sighting);
    };
    // Routes registered in the same turn belong to it; some apps add routes once a database is connected.
    setImmediate(() => void reportRoutes());
    for (const afterMs of recheckMs) setTimeout(() => void reportRoutes(), afterMs).unref();
  });
  watchChildren(() => hasListened && report({ type: 'child' }));
}

/**
 * Redirects ports: servers side by side cannot share one, and a port that the user's own copy of the app may already use is left
 * alone.
 */
function watchListen(
  { main }: ScoutSettings,
  onListening: (server: Server, asked: number | string) => void,
): void {
  const own = Number(process.env[portName]);
  const listen = Server.prototype.listen as Listen;
  let isTaken = false;
  const placeOf = (server: Server, asked: number | string): number => {
    const isFirst = main === firstHttp && !isTaken && kindOf(server) === 'http';
    if (asked !== own && asked !== main && !isFirst) return 0;
    // Another server of the app may request port 0 again.
    if (asked === 0 && isTaken) return 0;
    isTaken = true;
    return own;
  };
  (Server.prototype as unknown as { listen: Listen }).listen = function (first, ...rest) {
    const asked = portOf(first) ?? socketOf(this, first);
    if (asked === undefined) return listen.call(this, first, ...rest);
    this.once('listening', () => onListening(this, asked));
    const port = placeOf(this, asked);
    if (typeof asked === 'string') return listen.call(this, { port, host: '127.0.0.1' }, ...rest);
    const isObject = typeof first === 'object' && first !== null;
    return listen.call(this, isObject ? { ...first, port } : port, ...rest);
  };
}

/** Returns the port; undefined for a path, a handle or a descriptor. */
function portOf(first: unknown): number | undefined {
  const given =
    typeof first === 'object' && first !== null ? (first as { port?: unknown }).port : first;
  if (typeof given !== 'number' && (typeof given !== 'string' || given.trim() === '')) {
    return undefined;
  }
  const port = Number(given);
  return Number.isInteger(port) && port >= 0 ? port : undefined;
}

/** Returns the path of a Unix socket that serves HTTP; other sockets connect processes of the app. */
function socketOf(server: Server, first: unknown): string | undefined {
  const path =
    typeof first === 'object' && first !== null ? (first as { path?: unknown }).path : first;
  const isSocket = typeof path === 'string' && path !== '' && kindOf(server) === 'http';
  return isSocket ? path : undefined;
}

async function sightingOf(
  server: Server,
  asked: number | string,
  { engine }: ScoutSettings,
): Promise<Listening | undefined> {
  const address = server.address() as AddressInfo | null;
  if (address === null) return undefined;
  const kind = kindOf(server);
  const framework = frameworkOf(server as HttpServer);
  const sighting: Listening = {
    type: 'listening',
    asked,
    port: address.port,
    kind,
    node: process.version,
    routes: kind === 'http' || kind === 'tls' ? routesOf(server as HttpServer) : [],
    ...(framework === undefined ? {} : { framework }),
  };
  if (engine === undefined) return sighting;
  const { engine: ask } = (await import(engine)) as {
    engine: (server: Server) => { name: string; reason?: string };
  };
  const { name, reason = '' } = ask(server);
  return name === 'native' ? sighting : { ...sighting, leftToNode: reason };
}

function kindOf(server: Server): Listening['kind'] {
  if ('setSecureContext' in server) return 'tls';
  if ('updateSettings' in server) return 'http2';
  return server.listenerCount('request') > 0 ? 'http' : 'other';
}

function watchChildren(onStart: () => void): void {
  subscribe('child_process', onStart);
  const methods = childProcess as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ['spawnSync', 'execSync', 'execFileSync']) {
    const method = methods[name]!;
    methods[name] = function (this: unknown, ...args: unknown[]): unknown {
      onStart();
      return method.apply(this, args);
    };
  }
  syncBuiltinESMExports();
}
