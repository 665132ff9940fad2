import type { EngineResponse } from '../exchange.ts';
import { nextTick } from '../node/clocks.ts';
import { kConnection } from '../node/message-state.ts';
import { kErrored, kWritableFinished } from '../node/node-internals.ts';
import { addFirstListener } from '../node/own-listeners.ts';
import { isEmitReplaced } from '../node/replaced-methods.ts';
import { emitClose } from '../response/hand-over.ts';
import { callEndCallbacks } from '../response/write-callbacks.ts';

/** Marks an `emit` that only calls the original in another context: `@redline/defer` sets one on each response. */
const kCallsThrough = Symbol.for('redline.calls-through');

/** A replaced `emit` may hold back "finish", and with it the work that Node does then. */
function mayHoldBack(response: EngineResponse): boolean {
  if (!isEmitReplaced(response)) return false;
  const below = Reflect.getPrototypeOf(response) as EngineResponse;
  return !(kCallsThrough in response.emit) || isEmitReplaced(below);
}

/** Called when the kernel has the bytes of a direct response. */
export function finish(response: EngineResponse): void {
  const connection = response[kConnection];
  if (response[kWritableFinished] || connection.first !== response) return;
  if (response[kErrored]) {
    // Destroyed with an error after its end and before its turn. Node never gives the turn to the next response.
    callEndCallbacks(response, false);
    connection.release(response);
    connection.finished(response);
    return;
  }
  response[kWritableFinished] = true;
  callEndCallbacks(response, true);
  if (mayHoldBack(response)) {
    addFirstListener(response, 'finish', () => {
      if (connection.first !== response) return;
      connection.release(response);
      nextTick(emitClose, response);
      connection.finished(response);
    });
    response.emit('finish');
    return;
  }
  connection.release(response);
  if (response._events === undefined) {
    connection.finished(response);
    // Subscribers of the channel may have added listeners.
    if (response._events === undefined) {
      response.destroyed = true;
      response._closed = true;
      return;
    }
    nextTick(emitClose, response);
  } else {
    // Runs before the ticks of the next response.
    nextTick(emitClose, response);
    connection.finished(response);
  }
  response.emit('finish');
}
