// Loaded into the server under test before its own code: NODE_OPTIONS=--import. It reaches npm, npx and every other Node
// process on the way too, and does nothing there but wait for a server that never listens.
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { adapt } from './adapters/adapt.ts';
import { openControl, quietRejections, reportCrashes } from './control.ts';
import { hookLoading } from './hooks.ts';
import { watchHttp } from './http.ts';
import { environmentName, type PreloadSettings } from './protocol.ts';
import { redirectListen } from './redirect-listen.ts';
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
  // A stage that was cut for a while must not be compiled again because of it.
  if (settings.phase === 'cut') {
    setFlagsFromString('--no-flush-bytecode');
    quietRejections();
  }
  if (settings.redirectFrom !== undefined)
    redirectListen(settings.redirectFrom, settings.listenPort);
  adapt(state);
  hookLoading(state, recorder, ownFolder);
  watchHttp(state, () => {
    reportCrashes(state);
    openControl(state, recorder);
  });
}
