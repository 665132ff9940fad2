import type { StairsState } from '../state.ts';
import { adaptCallbacks } from './callbacks.ts';
import { adaptExpress, adaptFinalHandler } from './express.ts';
import { watchFastify } from './fastify.ts';
import { adaptKoa } from './koa.ts';
import { nestAdapters } from './nest.ts';

/** Puts the adapters where the patched files of the frameworks look for them. */
export function adapt(state: StairsState): void {
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
