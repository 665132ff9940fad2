// Loaded into the server under test before its own code: NODE_OPTIONS=--import. It is also loaded into npm, npx and every other
// Node process on the way, and does nothing there except wait for a server that never listens.
import { Server } from 'node:net';
import { installRecorder } from '../../calls-out/preload/install.ts';
import { adaptCallbacks } from './adapters/callbacks.ts';
import { adaptExpress, adaptFinalHandler } from './adapters/express.ts';
import { watchFastify } from './adapters/fastify.ts';
import { adaptKoa } from './adapters/koa.ts';
import { nestAdapters } from './adapters/nest.ts';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { ignoreCutRejections, openControl, reportCrashes } from './control.ts';
import { hookLoading } from './hooks.ts';
import { watchHttp } from './http.ts';
import { environmentName, type PreloadSettings } from './protocol.ts';
import { Recorder } from './recorder.ts';
import { globalName, StairsState } from './state.ts';

const text = process.env[environmentName];
if (text !== undefined && isMainThread) install(JSON.parse(text) as PreloadSettings);

function install(settings: PreloadSettings): void {
  if ((module as { registerHooks?: unknown }).registerHooks === undefined) {
    throw new Error(
      `redline stairs needs Node 22.15 or newer to run the app; this is ${process.version}.`,
    );
  }
  const ownFolder = fileURLToPath(new URL('.', import.meta.url));
  const state = new StairsState(settings);
  const recorder = new Recorder(state, ownFolder);
  Object.assign(globalThis, { [globalName]: state });
  // A stage that was cut for a while must not be recompiled because of it.
  if (settings.phase === 'cut') {
    setFlagsFromString('--no-flush-bytecode');
    ignoreCutRejections();
  }
  if (settings.redirectFrom !== undefined)
    redirectListen(settings.redirectFrom, settings.listenPort);
  const calls = installRecorder();
  adapt(state);
  hookLoading(state, recorder, ownFolder);
  watchHttp(state, () => {
    reportCrashes(state);
    openControl(state, recorder, calls);
  });
}

type Listen = (this: Server, ...args: unknown[]) => Server;

/** Redirects this copy of the app to another port: the app itself already runs on its own. */
function redirectListen(from: number, to: number): void {
  const listen = Server.prototype.listen as Listen;
  (Server.prototype as unknown as { listen: Listen }).listen = function (first, ...rest) {
    if (Number(first) === from) return listen.call(this, to, ...rest);
    const isMeant =
      typeof first === 'object' &&
      first !== null &&
      Number((first as { port?: unknown }).port) === from;
    return listen.call(this, isMeant ? { ...first, port: to } : first, ...rest);
  };
}

/** Puts the adapters where the patched files of the frameworks expect them. */
function adapt(state: StairsState): void {
  Object.assign(state, {
    adapters: {
      callbacks: adaptCallbacks(state),
      express: adaptExpress(state),
      finalHandler: adaptFinalHandler(state),
      koa: adaptKoa(state),
      nest: nestAdapters(state),
    },
  });
  watchFastify(state);
}
