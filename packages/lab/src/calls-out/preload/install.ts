import { wrapPg } from './drivers/pg.ts';
import { CallRecorder, callsGlobal } from './recorder.ts';

/** Puts the wrappers where patched drivers expect them. */
export function installRecorder(): CallRecorder {
  const recorder = new CallRecorder();
  const wrappers = { pg: wrapPg(recorder) };
  Object.defineProperty(globalThis, callsGlobal, { value: wrappers, configurable: true });
  return recorder;
}
